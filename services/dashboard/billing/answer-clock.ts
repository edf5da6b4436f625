import { createHash } from 'node:crypto';
import { type GivenFact } from '../../selling/billing/payment-facts';

/**
 * When an answer was given, by its own `Date` header: no clock of ours is compared with the provider's. The header has no parts of a second.
 * Halves put what was asked after the events of that second, and thousandths in the order in which it was answered.
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

/** How a provider has a subscription when it is asked; the same answer again is the same fact. */
export function lookedUp(fact: GivenFact): GivenFact {
  return { ...fact, id: `look ${digest(JSON.stringify(fact))}` };
}
