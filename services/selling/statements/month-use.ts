import { type Overage, type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';

/** Limits that the price includes, and what is sold above them. */
interface Sold extends QuotaLimits {
  readonly overage: Overage | null;
}

/** Units that a term sold above the limits. */
interface SoldUse<Term> {
  readonly term: Term;
  readonly units: number;
}

/**
 * The use of one subscription, day by day. Each unit of a day is either included or sold. A day includes as much as the best of its terms
 * does; above that, each term that sells use sells what its cap admitted.
 */
export class MonthUse {
  private inside = 0;
  private used = 0;

  /** Units so far that were included. */
  get included(): number {
    return this.inside;
  }

  /**
   * @param used of the next day
   * @param terms of that day, those that sell first in front: the most expensive first, so that nobody pays more than the most expensive
   * plan with its overage
   * @returns what was sold; the rest is included, or no term sells anything
   */
  addDay<Term extends Sold>(used: number, terms: readonly Term[]): SoldUse<Term>[] {
    const reachOf = ({ daily, monthly }: QuotaLimits, before: number): number => Math.max(0, Math.min(used, daily, monthly - before));
    const inside = Math.max(0, ...terms.map((term) => reachOf(term, this.inside)));
    const reaches = terms.flatMap((term) => (term.overage ? [{ term, reach: reachOf(term.overage.cap, this.used) }] : []));
    const widest = Math.max(0, ...reaches.map(({ reach }) => reach));
    this.inside += inside;
    this.used += used;
    let reached = inside;
    return reaches.flatMap(({ term, reach }) => {
      // A request of several units may end above the cap that admitted it.
      const units = (reach === widest ? used : reach) - reached;
      if (units <= 0) return [];
      reached += units;
      return [{ term, units }];
    });
  }
}
