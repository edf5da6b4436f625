/**
 * A committed change. `gap`: changes may have been missed before this time (the connection was new or had been lost). `everything`: more
 * changed than can be named. `at`, in PostgreSQL's form, is the start of the change's transaction, which the change's line in the audit log
 * also has.
 */
export type Change =
  | {
      readonly kind: 'credential';
      readonly id: string;
      readonly at?: string;
      /**
       * First 16 hex digits of the key's hash; null when the key is gone. Absent when the database does not say, and the key may be new.
       */
      readonly hash?: string | null;
    }
  | { readonly kind: 'customer'; readonly id: string }
  /** `isCatalogue`: only plans or products changed, no key. */
  | { readonly kind: 'everything'; readonly isCatalogue?: true }
  | { readonly kind: 'gap' };

/** Reports changes in the store, in the order of the commits. */
export interface ChangeFeed {
  /** False as soon as a change could be missed or late. */
  isHealthy(): boolean;
  /**
   * Monotonic milliseconds: every change committed before this time, on the connection that the last `gap` announced, has been reported.
   * Minus infinity before the first. While `gap` is being reported, it still refers to the old connection.
   */
  lastHealthyAt(): number;
  /**
   * Asks the store. Callers that ask at the same time share one check.
   * @returns true once every change from before this call has been reported; false when that cannot be confirmed in time. Never rejects
   */
  caughtUp(): Promise<boolean>;
  /** @returns a function that ends the subscription */
  subscribe(listener: (change: Change) => void): () => void;
}
