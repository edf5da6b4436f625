/** The seller has stopped a customer, a key or a subscription. Only an operator lifts it. */
export interface Suspension {
  /** For the customer to read; empty when none was given. */
  readonly reason: string;
  /** ISO 8601. */
  readonly since: string;
}

export type SuspendedKind = 'customer' | 'credential' | 'subscription';

/** An expression over a row of `suspension`. */
export const SUSPENSION_OF_ROW = `json_build_object('reason', reason, 'since', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`;

/** An expression for a SELECT: the {@link Suspension} of that row, or null. @param id for example `k.id` */
export function suspensionOf(kind: SuspendedKind, id: string): string {
  return `(SELECT ${SUSPENSION_OF_ROW} FROM suspension WHERE ${kind}_id = ${id})`;
}
