import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type IpAnswer } from './ip-answer';
import { type SourceCheck } from './network-facts';
import { heuristicRisk, heuristicStaticScore, type RiskSignal } from './scores';

export interface ScoreEvidence {
  readonly address: IpAddress;
  readonly isReserved: boolean;
  readonly signals: readonly RiskSignal[];
  /** The third parties that were asked, by source name. */
  readonly checked: readonly SourceCheck[];
  /** True if a network is known to announce the address, so that it could be looked up in the list of hosting networks. */
  readonly isAnnounced: boolean;
  /** True if a file of anonymous networks was searched. */
  readonly hasAnonymity: boolean;
  readonly hostname: string | null;
  readonly cellular: boolean;
  /** MaxMind's own figures, if a file has them. */
  readonly published: { readonly risk: number | undefined; readonly staticScore: number | undefined };
}

type Scores = Pick<IpAnswer, 'ip_risk' | 'static_ip_score' | 'score_method' | 'score_methods' | 'score_reasons' | 'score_inputs'>;
type Method = IpAnswer['score_method'];
type Reason = IpAnswer['score_reasons']['ip_risk'];

/** One score, the sources that it is based on, and the third parties that could have contributed. */
interface Score {
  readonly value: number | null;
  readonly method: Method;
  readonly inputs: readonly string[];
  readonly askable: readonly string[];
}

const RISK_SOURCES: readonly string[] = ['dnsbl', 'abuseipdb'];
const STATIC_SOURCES: readonly string[] = ['reverse_dns', 'dnsbl'];

function hasAnswered({ checked }: ScoreEvidence, source: string): boolean {
  return checked.some((each) => each.ok && each.source === source);
}

/**
 * Sources that cover every network. Their silence is weak evidence: the list has most hosting networks, so a network that is not on it is
 * probably none. That is enough for a ranking, and too little for a flag.
 */
function knownOfNetwork({ isAnnounced, hasAnonymity }: ScoreEvidence): string[] {
  return [...(isAnnounced ? ['asn_list'] : []), ...(hasAnonymity ? ['anonymity'] : [])];
}

function riskOf(evidence: ScoreEvidence): Score {
  const { signals, published } = evidence;
  const askable = RISK_SOURCES;
  if (published.risk !== undefined) return { value: published.risk, method: 'maxmind', inputs: ['maxmind'], askable };
  const answered = askable.filter((source) => hasAnswered(evidence, source));
  const named = signals.filter(({ weight }) => weight > 0).map(({ source }) => source);
  const inputs = [...new Set([...knownOfNetwork(evidence), ...answered, ...named])];
  return { value: inputs.length > 0 ? heuristicRisk(signals) : null, method: 'heuristic', inputs, askable };
}

/** If reverse DNS has no name for the address, that says nothing about how long the address stays assigned. */
function staticScoreOf(evidence: ScoreEvidence): Score {
  const { address, hostname, cellular, signals, published } = evidence;
  const askable = STATIC_SOURCES;
  if (published.staticScore !== undefined) return { value: published.staticScore, method: 'maxmind', inputs: ['maxmind'], askable };
  const hosting = signals.filter(({ id }) => id === 'hosting').map(({ source }) => source);
  const inputs = [
    ...new Set([
      ...knownOfNetwork(evidence),
      ...(hostname === null ? [] : ['reverse_dns']),
      ...(cellular ? ['carrier'] : []),
      ...(hasAnswered(evidence, 'dnsbl') ? ['dnsbl'] : []),
      ...hosting,
    ]),
  ];
  const policyListed = signals.some(({ id }) => id === 'dnsbl_pbl');
  const value = heuristicStaticScore({ address, hostname, cellular, hosting: hosting.length > 0, policyListed });
  return { value: inputs.length > 0 ? value : null, method: 'heuristic', inputs, askable };
}

/** Why a score is null, judged by the sources that could have contributed. */
function reasonOf({ value, askable }: Score, { isReserved, checked }: ScoreEvidence): Reason {
  if (value !== null) return null;
  if (isReserved) return 'reserved_address';
  const asked = checked.filter(({ source }) => askable.includes(source));
  if (asked.length === 0) return 'not_configured';
  return asked.every(({ ok }) => ok) ? 'unknown_to_source' : 'sources_failed';
}

/** Both scores, each with its method and sources, or the reason why there is none. A reserved address has no scores. */
export function judgeScores(evidence: ScoreEvidence): Scores {
  const nothing = (askable: readonly string[]): Score => ({ value: null, method: null, inputs: [], askable });
  const risk = evidence.isReserved ? nothing(RISK_SOURCES) : riskOf(evidence);
  const lasting = evidence.isReserved ? nothing(STATIC_SOURCES) : staticScoreOf(evidence);
  const methodOf = ({ value, method }: Score): Method => (value === null ? null : method);
  const methods = { ip_risk: methodOf(risk), static_ip_score: methodOf(lasting) };
  return {
    ip_risk: risk.value,
    static_ip_score: lasting.value,
    score_method: methods.ip_risk === methods.static_ip_score ? methods.ip_risk : 'heuristic',
    score_methods: methods,
    score_reasons: { ip_risk: reasonOf(risk, evidence), static_ip_score: reasonOf(lasting, evidence) },
    score_inputs: { ip_risk: [...risk.inputs], static_ip_score: [...lasting.inputs] },
  };
}
