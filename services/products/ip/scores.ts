import { type IpAddress } from '../../../plugins/core/access/ip-address';

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

export interface StaticEvidence {
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
