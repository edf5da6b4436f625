import { type Database } from '../../../plugins/stores/postgres/database';
import { cutPage, numberBefore } from '../operations/page-cursor';

/** One line of the audit log. */
export interface AuditLine {
  readonly at: Date;
  /** As written: `cli`, `dashboard:you@example.com` and the like. */
  readonly actor: string;
  /** Null when it did not come over a network. */
  readonly from: string | null;
  readonly action: string;
  readonly subjectKind: string;
  readonly subjectId: string;
  /** Masked key, or product; null for a customer. */
  readonly label: string | null;
  /** Long lists are cut, and end with how many more there are. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Maximum entries of a list in the details: 1,000 rules of a key on each of 100 lines would not fit in a process. A list that was cut when
 * it was written ends with a text that says so, and stays as it is.
 */
const MAX_LISTED = 20;
const SHORT_MEMBER = `
CASE WHEN jsonb_typeof(value) = 'array' AND jsonb_array_length(value) > ${MAX_LISTED + 1}
  THEN jsonb_path_query_array(value, '$[0 to ${MAX_LISTED - 1}]') || to_jsonb((jsonb_array_length(value) - ${MAX_LISTED}) || ' more')
  ELSE value END`;

/** Lines of one kind, by the index audit_log_kind_idx. */
const pageOf = (kind: string | undefined): string => `
SELECT a.id::text AS number, a.at, a.actor, a.from_address AS "from", a.action, a.subject_kind AS "subjectKind", a.subject_id AS "subjectId",
  a.label,
  (SELECT COALESCE(jsonb_object_agg(name, ${SHORT_MEMBER}), '{}') FROM jsonb_each(a.details) AS member(name, value)) AS details
FROM audit_log a WHERE a.customer_id = $1 AND a.id < $2 ${kind === undefined ? '' : "AND split_part(a.action, '.', 1) = $4"} ORDER BY a.id DESC LIMIT $3`;

export interface AuditQuery {
  readonly customerId: string;
  readonly limit: number;
  readonly after?: string | undefined;
  /** Only actions that begin with it: `key` for `key.create` and the like. */
  readonly kind?: string | undefined;
}

/** Everything that was done to a customer and its keys and subscriptions, newest first. `next` is undefined at the end. */
export async function listAudit(db: Database, query: AuditQuery): Promise<{ lines: readonly AuditLine[]; next: string | undefined }> {
  const { customerId, limit, after, kind } = query;
  const page = await db.query<AuditLine & { number: string }>(pageOf(kind), [
    customerId,
    numberBefore(after),
    limit + 1,
    ...(kind === undefined ? [] : [kind]),
  ]);
  const { rows, next } = cutPage(page.rows, limit);
  return { lines: rows, next };
}
