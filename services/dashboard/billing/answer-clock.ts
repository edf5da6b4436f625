import { createHash } from 'node:crypto';
import { type GivenFact } from '../../selling/billing/payment-facts';

/**
 * Times a response by its own `Date` header, so that our clock is never compared with the provider's. The header has whole seconds. Half a
 * second is added, so that a response counts as later than the events of its second; thousandths keep responses in order.
 * @returns seconds since 1970
 */
export function answerClock(): (date: string | undefined) => number {
  let last = 0;
  return (date) => {
    const at = Date.parse(date ?? '') / 1_000;
    last = Math.max((Number.isNaN(at) ? Math.floor(Date.now() / 1_000) : at) + 0.5, last + 0.001);
    return last;
  };
}

export const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 32);

/** A subscription as the provider returned it. The same response twice is the same fact. */
export function lookedUp(fact: GivenFact): GivenFact {
  return { ...fact, id: `look ${digest(JSON.stringify(fact))}` };
}
