/**
 * A committed change. `gap` means that changes may have been missed before this moment (the connection was new or had been lost);
 * `everything` that more changed than can be named. `at`, as PostgreSQL writes a time, is when the change's transaction began: the same
 * moment that its line in the audit log has.
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

/** Tells what was changed in the store, in the order of the commits. */
export interface ChangeFeed {
  /** False from the moment on when a change could be missed or late. */
  isHealthy(): boolean;
  /**
   * Monotonic milliseconds: every change committed before this moment, on the connection that the last `gap` announced, has been
   * told. Minus infinity before the first. It still speaks of the old connection while `gap` is being told.
   */
  lastHealthyAt(): number;
  /**
   * Asks the store; those who ask at the same time share a question.
   * @returns true once every change from before this call has been told; false when that is not known within some time. Never rejects
   */
  caughtUp(): Promise<boolean>;
  /** @returns a function that ends the subscription */
  subscribe(listener: (change: Change) => void): () => void;
}
