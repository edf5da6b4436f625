import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';

/** A charge by the provider's id of its invoice. */
interface ChargeRef {
  readonly provider: string;
  readonly invoice: string;
}

/** Amounts are in the currency's smallest unit. */
interface RefundFacts {
  readonly amount: number;
  readonly refunded: number;
  readonly isPaid: boolean;
  /** A refund that was requested of the provider, without a response so far. */
  readonly open: { readonly id: string; readonly amount: number; readonly isTaken: boolean } | null;
}

interface WantedRefund {
  readonly amount: number;
  /** The part refunded before, as the requester saw it. */
  readonly refunded: number;
}

/** With a reason for its credit note. */
interface ReasonedRefund extends WantedRefund {
  readonly reason: string;
}

/**
 * `new`: under a new id. `again`: an earlier refund without a response comes first, under its own id. `unpaid`: nothing was paid. `taken`:
 * it is being requested. `changed`: the refunded part differs from what the requester saw. `too_much`: less is left.
 */
export type RefundDecision = 'new' | 'again' | 'unpaid' | 'taken' | 'changed' | 'too_much';

/**
 * Whether money can be refunded. A payment has at most one open refund, so nothing is refunded twice, however often and by whom it is
 * requested.
 */
export function decideRefund({ amount, refunded, isPaid, open }: RefundFacts, wanted: WantedRefund): RefundDecision {
  if (!isPaid) return 'unpaid';
  if (open) return open.isTaken ? 'taken' : 'again';
  if (wanted.refunded !== refunded) return 'changed';
  return wanted.amount > 0 && wanted.amount <= amount - refunded ? 'new' : 'too_much';
}

/** Longer than a provider may take. */
const TAKEN = "interval '60 seconds'";
const FIND = `
SELECT amount::float8 AS amount, refunded::float8 AS refunded, paid_at IS NOT NULL AS "isPaid",
  CASE WHEN refund_id IS NOT NULL THEN json_build_object('id', refund_id, 'amount', refund_amount, 'isTaken', refund_until > now()) END AS open
FROM payment_charge WHERE provider = $1 AND invoice = $2 FOR UPDATE`;
const OPEN = `
UPDATE payment_charge SET refund_id = gen_random_uuid(), refund_amount = $3, refund_until = now() + ${TAKEN},
  reasons = reasons || jsonb_build_object((refunded + $3)::text, $4::text)
WHERE provider = $1 AND invoice = $2 RETURNING refund_id AS id`;
const TAKE = `UPDATE payment_charge SET refund_until = now() + ${TAKEN} WHERE provider = $1 AND invoice = $2 RETURNING refund_id AS id`;

/** The refund to request of the provider. */
export interface RefundIntent {
  readonly id: string;
  readonly amount: number;
  readonly isAgain: boolean;
}

/**
 * Stores the refund that is requested of the provider next, before it is requested.
 * @returns the reason if nothing may be requested
 * @throws OperationRefused `payment_unknown`
 */
export function openRefund(
  db: Database,
  { provider, invoice }: ChargeRef,
  wanted: ReasonedRefund,
): Promise<RefundIntent | Exclude<RefundDecision, 'new' | 'again'>> {
  return inTransaction(db, async (client) => {
    const [found] = (await client.query<RefundFacts>(FIND, [provider, invoice])).rows;
    if (!found) throw new OperationRefused('payment_unknown', 'there is no payment with this reference');
    const decision = decideRefund(found, wanted);
    if (decision !== 'new' && decision !== 'again') return decision;
    const isAgain = decision === 'again';
    const values = isAgain ? [provider, invoice] : [provider, invoice, wanted.amount, wanted.reason];
    const [taken] = (await client.query<{ id: string }>(isAgain ? TAKE : OPEN, values)).rows;
    return { id: taken?.id ?? '', amount: found.open?.amount ?? wanted.amount, isAgain };
  });
}

/** The provider has responded: the money was refunded, or, with `refused`, never will be. */
export async function closeRefund(db: Database, id: string, refused = false): Promise<void> {
  const reasons = refused ? ', reasons = reasons - (refunded + refund_amount)::text' : '';
  await db.query(`UPDATE payment_charge SET refund_id = NULL, refund_amount = NULL, refund_until = NULL${reasons} WHERE refund_id = $1`, [
    id,
  ]);
}

/** The response did not arrive: the next requester asks for this refund again. */
export async function releaseRefund(db: Database, id: string): Promise<void> {
  await db.query('UPDATE payment_charge SET refund_until = now() WHERE refund_id = $1', [id]);
}
