import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type IpAnswer } from './ip-answer';
import { type SourceCheck } from './network-facts';
import { heuristicRisk, heuristicStaticScore, type RiskSignal } from './scores';

export interface ScoreEvidence {
  readonly address: IpAddress;
  readonly isReserved: boolean;
  readonly signals: readonly RiskSignal[];
  /** The third parties that were asked, by the names of their sources. */
  readonly checked: readonly SourceCheck[];
  /** Whether a file that knows anonymous networks was asked. */
  readonly hasAnonymity: boolean;
  readonly hostname: string | null;
  readonly cellular: boolean;
  /** MaxMind's own figures, where such a file has one. */
  readonly published: { readonly risk: number | undefined; readonly staticScore: number | undefined };
}

type Scores = Pick<IpAnswer, 'ip_risk' | 'static_ip_score' | 'score_method' | 'score_methods' | 'score_reasons'>;
type Method = IpAnswer['score_method'];
type Reason = IpAnswer['score_reasons']['ip_risk'];

const RISK_SOURCES: readonly string[] = ['dnsbl', 'abuseipdb'];
const STATIC_SOURCES: readonly string[] = ['reverse_dns', 'dnsbl'];

function hasAnswered({ checked }: ScoreEvidence, ...sources: readonly string[]): boolean {
  return checked.some(({ source, ok }) => ok && sources.includes(source));
}

/** A signal speaks for itself; that there is none says something only where a source was asked that knows them. */
function riskOf(evidence: ScoreEvidence): number | null {
  const { signals, hasAnonymity } = evidence;
  const isKnown = signals.some(({ weight }) => weight > 0) || hasAnonymity || hasAnswered(evidence, ...RISK_SOURCES);
  return isKnown ? heuristicRisk(signals) : null;
}

/** A name server that knows no name of the address says nothing of how long it is somebody's. */
function staticScoreOf(evidence: ScoreEvidence): number | null {
  const { address, hostname, cellular, signals, hasAnonymity } = evidence;
  const hosting = signals.some(({ id }) => id === 'hosting');
  const isKnown = hostname !== null || cellular || hosting || hasAnonymity || hasAnswered(evidence, 'dnsbl');
  if (!isKnown) return null;
  return heuristicStaticScore({ address, hostname, cellular, hosting, policyListed: signals.some(({ id }) => id === 'dnsbl_pbl') });
}

/** Why a score is null, by the sources that could have known. */
function reasonOf(score: number | null, { isReserved, checked }: ScoreEvidence, sources: readonly string[]): Reason {
  if (score !== null) return null;
  if (isReserved) return 'reserved_address';
  const asked = checked.filter(({ source }) => sources.includes(source));
  if (asked.length === 0) return 'not_configured';
  return asked.every(({ ok }) => ok) ? 'unknown_to_source' : 'sources_failed';
}

function methodOf(score: number | null, published: number | undefined): Method {
  if (score === null) return null;
  return published === undefined ? 'heuristic' : 'maxmind';
}

/** Both scores, each with how it was made or why there is none. A reserved address has none. */
export function judgeScores(evidence: ScoreEvidence): Scores {
  const { isReserved, published } = evidence;
  const risk = isReserved ? null : (published.risk ?? riskOf(evidence));
  const staticScore = isReserved ? null : (published.staticScore ?? staticScoreOf(evidence));
  const methods = { ip_risk: methodOf(risk, published.risk), static_ip_score: methodOf(staticScore, published.staticScore) };
  return {
    ip_risk: risk,
    static_ip_score: staticScore,
    score_method: methods.ip_risk === methods.static_ip_score ? methods.ip_risk : 'heuristic',
    score_methods: methods,
    score_reasons: {
      ip_risk: reasonOf(risk, evidence, RISK_SOURCES),
      static_ip_score: reasonOf(staticScore, evidence, STATIC_SOURCES),
    },
  };
}
