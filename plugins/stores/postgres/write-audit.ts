import { type Database } from './database';

export interface AuditEntry {
  /** Who did it, for example `cli` or `dashboard:you@example.com`. */
  readonly actor: string;
  /** For example `key.revoke`. */
  readonly action: string;
  readonly subject: { kind: 'customer' | 'credential' | 'subscription'; id: string };
  /** What changed. Never a key or its hash. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Appends one line to the audit log; call it in the transaction of the change. */
export async function writeAudit(db: Database, { actor, action, subject, details }: AuditEntry): Promise<void> {
  await db.query('INSERT INTO audit_log (actor, action, subject_kind, subject_id, details) VALUES ($1, $2, $3, $4, $5)', [
    actor,
    action,
    subject.kind,
    subject.id,
    JSON.stringify(details ?? {}),
  ]);
}
