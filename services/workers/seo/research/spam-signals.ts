/** Points of each signal, from the product contract of api-seo. */
export const SPAM_WEIGHTS = {
  poison_words: 25,
  blocklisted: 40,
  spam_tld: 10,
  long_domain: 5,
  many_hyphens: 6,
  many_digits: 5,
  consonant_run: 5,
  no_https: 8,
  no_contact: 5,
  no_favicon: 3,
  many_external_links: 10,
  external_link_ratio: 10,
  hidden_links: 15,
  cross_domain_redirect: 10,
  noindex: 5,
  commercial_anchor: 8,
  sitewide_link: 4,
  high_open_page_rank: -10,
} as const;

export type SpamSignalId = keyof typeof SPAM_WEIGHTS;

/** The result for one signal. */
export interface SignalFinding {
  readonly hit: boolean;
  /** The fact that shows the signal, or its absence. */
  readonly evidence: string;
}

/** A missing signal was not checked. */
export type Findings = Partial<Record<SpamSignalId, SignalFinding>>;

interface SpamSignal {
  readonly id: SpamSignalId;
  /** Null when it was not checked. */
  readonly hit: boolean | null;
  readonly weight: number;
  readonly evidence: string | null;
}

export type SpamTier = 'clean' | 'caution' | 'spam';

export interface SpamVerdict {
  /** From 0 to 100; null when the page was not read, because most signals are about the page. */
  readonly score: number | null;
  readonly tier: SpamTier;
  /** Number of signals that were checked, hit or not. */
  readonly checked: number;
  readonly signals: readonly SpamSignal[];
}

const CAUTION_FROM = 25;
const SPAM_FROM = 60;
/** Minimum number of checked signals for the tier clean. */
const MIN_CHECKED = 5;

function tierOf(score: number, checked: number, isReached: boolean): SpamTier {
  if (!isReached) return 'caution';
  if (score >= SPAM_FROM) return 'spam';
  return score >= CAUTION_FROM || checked < MIN_CHECKED ? 'caution' : 'clean';
}

/**
 * Adds the weights of the hits, from 0 to 100. Under 25 is clean, from 60 on is spam.
 * @param isReached false when the page could not be read: then the tier is caution, whatever its name suggests
 */
export function judgeSpam(findings: Findings, isReached: boolean): SpamVerdict {
  const signals = (Object.keys(SPAM_WEIGHTS) as SpamSignalId[]).map((id): SpamSignal => {
    const finding = findings[id];
    return { id, hit: finding?.hit ?? null, weight: SPAM_WEIGHTS[id], evidence: finding?.evidence ?? null };
  });
  const sum = signals.reduce((total, { hit, weight }) => total + (hit === true ? weight : 0), 0);
  const score = Math.min(100, Math.max(0, sum));
  const checked = signals.filter(({ hit }) => hit !== null).length;
  return { score: isReached ? score : null, tier: tierOf(score, checked, isReached), checked, signals };
}
