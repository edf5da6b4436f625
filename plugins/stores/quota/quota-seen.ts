import { type SubscriptionUsage } from './quota-parts';

/**
 * What this node saw of Redis's counts and has not yet written to Postgres. Bounded by the subscriptions used between two writes.
 */
export class SeenUsage {
  /** One entry a day; more than one only around midnight. */
  private changed = new Map<string, SubscriptionUsage[]>();
  private inWriting = new Map<string, SubscriptionUsage[]>();

  record(usage: SubscriptionUsage): void {
    const known = this.changed.get(usage.subscriptionId);
    if (!known) {
      this.changed.set(usage.subscriptionId, [usage]);
      return;
    }
    const index = known.findIndex((each) => each.day === usage.day);
    const same = known[index];
    if (!same) known.push(usage);
    // An emptied Redis may count less than it did: the larger figure is the one to keep.
    else if (usage.ofDay.redis >= same.ofDay.redis) known[index] = usage;
  }

  /** Whatever of this subscription Postgres may not know yet. */
  find(subscriptionId: string): readonly SubscriptionUsage[] {
    const changed = this.changed.get(subscriptionId);
    const inWriting = this.inWriting.get(subscriptionId);
    if (changed && inWriting) return [...inWriting, ...changed];
    return changed ?? inWriting ?? [];
  }

  /** Hands out all changes; {@link find} keeps showing them until {@link finishWriting}. */
  startWriting(): SubscriptionUsage[] {
    this.inWriting = this.changed;
    this.changed = new Map();
    return [...this.inWriting.values()].flat();
  }

  finishWriting(unwritten: readonly SubscriptionUsage[]): void {
    this.inWriting = new Map();
    for (const usage of unwritten) this.record(usage);
  }
}
