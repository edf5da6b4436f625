/** Ranks from here on are worth nothing: ten million, the seventh power of ten. */
const POWERS = 7;

/** 100 for the first rank, 0 from the ten millionth. */
export function rankScore(rank: number): number {
  return Math.max(0, 100 * (1 - Math.log10(rank) / POWERS));
}

/**
 * The service's own estimate, 0 to 100: the mean of what is known of Open PageRank × 10 and 100 × (1 − log10(rank) ÷ 7).
 * @param openPageRank 0 to 10
 * @param rank position in a list of domains, from 1
 */
export function serviceAuthority({ openPageRank, rank }: { openPageRank: number | null; rank: number | null }): number | null {
  const known = [openPageRank === null ? null : openPageRank * 10, rank === null ? null : rankScore(rank)].filter((each) => each !== null);
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
}
