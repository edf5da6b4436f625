import { type IpAddress } from '../../../plugins/core/access/ip-address';
import { type IpAnswer } from './ip-answer';

/** One reason to distrust an address. */
export interface RiskSignal {
  readonly id:
    | 'tor_exit'
    | 'abuse_reports'
    | 'dnsbl_sbl'
    | 'dnsbl_css'
    | 'dnsbl_xbl'
    | 'dnsbl_drop'
    | 'dnsbl_pbl'
    | 'hosting'
    | 'proxy_or_vpn'
    | 'relay';
  /** 0 to 1. */
  readonly weight: number;
  /** The file, list or service that said so. */
  readonly source: string;
}

/** Weights of the heuristic, product contract of api-ip. The abuse score has a weight of its own: see {@link abuseWeight}. */
export const RISK_WEIGHTS: Readonly<Record<Exclude<RiskSignal['id'], 'abuse_reports'>, number>> = {
  tor_exit: 0.85,
  dnsbl_sbl: 0.6,
  dnsbl_css: 0.6,
  dnsbl_xbl: 0.7,
  dnsbl_drop: 0.95,
  dnsbl_pbl: 0,
  hosting: 0.25,
  proxy_or_vpn: 0.5,
  // Users of a relay are people with their own devices, and it reveals their place down to a region.
  relay: 0,
};

/** @param confidence AbuseIPDB's `abuseConfidenceScore`, 0 to 100 */
export function abuseWeight(confidence: number): number {
  return (Math.min(Math.max(confidence, 0), 100) / 100) * 0.9;
}

/** MaxMind documents its scores with two decimals. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

const HIGHEST_RISK = 99;

/** 100·(1−∏(1−wᵢ)), at most 99; 0 without a signal. Ranks suspicion; it is not a probability. */
export function heuristicRisk(signals: readonly RiskSignal[]): number {
  const clean = signals.reduce((product, { weight }) => product * (1 - weight), 1);
  return rounded(Math.min(100 * (1 - clean), HIGHEST_RISK));
}

/** Words in names that access providers give to changing addresses. `nat` counts only as a word: `international` is not NAT. */
const CHANGING_NAME = /dyn|dynamic|pool|dhcp|dsl|ppp|dialup|cable|mobile|cgn|(?<![a-z])nat(?![a-z])/i;
/** Words in names of permanent addresses. The abbreviations count only as words. */
const LASTING_NAME = /static|fixed|server|mail|(?<![a-z])(?:srv|mx)(?![a-z])/i;

/** True if each octet of the v4 address occurs as a number in the name, in any order: the name was generated from the address. */
function spellsAddress(hostname: string, address: IpAddress): boolean {
  if (address.version === 6) return false;
  const numbers = (hostname.match(/\d+/g) ?? []).map(Number);
  return address.text.split('.').every((octet) => {
    const place = numbers.indexOf(Number(octet));
    if (place >= 0) numbers.splice(place, 1);
    return place >= 0;
  });
}

interface StaticEvidence {
  readonly address: IpAddress;
  /** Confirmed reverse name, or null. */
  readonly hostname: string | null;
  /** Whether Spamhaus lists the address as one that access providers assign to end users. */
  readonly policyListed: boolean;
  readonly hosting: boolean;
  readonly cellular: boolean;
}

const HIGHEST_STATIC = 99.99;
const CELLULAR_STATIC = 0.5;

/** How permanent the address's assignment looks, 0 to 99.99. Points from the product contract of api-ip; not a probability. */
export function heuristicStaticScore({ address, hostname, policyListed, hosting, cellular }: StaticEvidence): number {
  if (cellular) return CELLULAR_STATIC;
  let score = 15;
  if (policyListed) score -= 10;
  if (hostname !== null) {
    if (CHANGING_NAME.test(hostname)) score -= 10;
    if (spellsAddress(hostname, address)) score -= 5;
    if (LASTING_NAME.test(hostname)) score += 30;
  }
  if (hosting) score += 50;
  return Math.min(Math.max(score, 0), HIGHEST_STATIC);
}

interface ScoreEvidence {
  readonly address: IpAddress;
  readonly isReserved: boolean;
  readonly signals: readonly RiskSignal[];
  /** The third parties that were asked, by source name. */
  readonly checked: readonly Pick<IpAnswer['checked'][number], 'source' | 'ok'>[];
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
