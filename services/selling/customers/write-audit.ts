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

/** The details are passed as one list: in an array of texts, each quote in them would be escaped, and parsed, twice. */
const INSERT_ALL = `
INSERT INTO audit_log (actor, from_address, action, subject_kind, subject_id, details, customer_id, label)
SELECT $1, $2, $3, $4, line.* FROM ROWS FROM (unnest($5::text[]), jsonb_array_elements($6::jsonb), unnest($7::uuid[]), unnest($8::text[])) AS line`;

/** With what the audit log's triggers would look up for each line, which takes longer than writing it. */
export interface AuditedSubject {
  readonly id: string;
  /** What changed. Never a key or its hash. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly customerId: string;
  /** What people know the subject by. */
  readonly label: string | null;
}

/** The same for many lines, of one action. */
export async function writeAudits(
  db: Database,
  { actor, action, kind }: Pick<AuditEntry, 'actor' | 'action'> & { readonly kind: AuditEntry['subject']['kind'] },
  subjects: readonly AuditedSubject[],
): Promise<void> {
  if (subjects.length === 0) return;
  const { name, from } = typeof actor === 'string' ? { name: actor, from: null } : actor;
  const columns = [
    subjects.map(({ id }) => id),
    JSON.stringify(subjects.map(({ details }) => details)),
    subjects.map(({ customerId }) => customerId),
    subjects.map(({ label }) => label),
  ];
  await db.query(INSERT_ALL, [name, from, action, kind, ...columns]);
}
