import { type AuditAction } from './audit-actions';
import { type Database } from '../../../plugins/stores/postgres/database';

/** Who did it, for example `cli` or `dashboard:you@example.com`; with the address it came from when it came over a network. */
export type Actor = string | { readonly name: string; readonly from: string };

export interface AuditEntry {
  readonly actor: Actor;
  readonly action: AuditAction;
  readonly subject: { kind: 'customer' | 'credential' | 'subscription' | 'operator' | 'note' | 'webhook'; id: string };
  /** What changed. Never a key or its hash. */
  readonly details?: Readonly<Record<string, unknown>>;
}

const INSERT = `
INSERT INTO audit_log (actor, from_address, action, subject_kind, subject_id, details) VALUES ($1, $2, $3, $4, $5, $6)`;

/** Appends one line to the audit log; call it in the transaction of the change. */
export async function writeAudit(db: Database, { actor, action, subject, details }: AuditEntry): Promise<void> {
  const { name, from } = typeof actor === 'string' ? { name: actor, from: null } : actor;
  await db.query(INSERT, [name, from, action, subject.kind, subject.id, JSON.stringify(details ?? {})]);
}

const INSERT_ALL = `
INSERT INTO audit_log (actor, from_address, action, subject_kind, subject_id, details, customer_id, label)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[], $7::uuid[], $8::text[])`;

/** With what the triggers of the audit log would look up for each line, which takes longer than to write it. */
export interface FullAuditEntry extends AuditEntry {
  readonly customerId: string;
  /** What people know the subject by. */
  readonly label: string | null;
}

/** The same for many lines. */
export async function writeAudits(db: Database, entries: readonly FullAuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const actors = entries.map(({ actor }) => (typeof actor === 'string' ? { name: actor, from: null } : actor));
  await db.query(INSERT_ALL, [
    actors.map(({ name }) => name),
    actors.map(({ from }) => from),
    entries.map(({ action }) => action),
    entries.map(({ subject }) => subject.kind),
    entries.map(({ subject }) => subject.id),
    entries.map(({ details }) => JSON.stringify(details ?? {})),
    entries.map(({ customerId }) => customerId),
    entries.map(({ label }) => label),
  ]);
}
