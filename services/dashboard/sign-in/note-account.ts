import { type Pool } from 'pg';
import { type AuditAction } from '../../selling/customers/audit-actions';
import { joinCustomer } from '../../selling/customers/join-customer';
import { writeAudit } from '../../selling/customers/write-audit';
import { findOperator } from '../../selling/operators/find-operator';

/** An act of a person on an account of the dashboard, whose address is verified. */
export interface AccountAct {
  readonly action: Extract<AuditAction, `account.${string}`>;
  readonly email: string;
  /** The network address of the request. */
  readonly from: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Writes a line to the audit log of the account's own customer. An operator is no customer, and has lines elsewhere; see second-factor.ts. */
export async function noteAccount(db: Pool, { action, email: typed, from, details = {} }: AccountAct): Promise<void> {
  const email = typed.trim().toLowerCase();
  if (await findOperator(db, { email })) return;
  const actor = { name: `dashboard:${email}`, from };
  const home = await joinCustomer(db, { email, actor });
  // A person who was removed from their only organisation has no audit log for this line.
  if (home) await writeAudit(db, { actor, action, subject: { kind: 'customer', id: home.id }, details });
}
