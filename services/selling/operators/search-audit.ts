import { type AuditLine } from '../customers/list-audit';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { cutPage, numberBefore } from '../operations/page-cursor';

export interface AuditSearch {
  readonly limit: number;
  /** The actor as written: `operator:asha@example.com`, `cli`. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** Id of a customer: everything about it, its keys and subscriptions. */
  readonly customerId?: string | undefined;
  readonly after?: string | undefined;
}

export interface AuditLineOfAll extends AuditLine {
  readonly customer: { readonly id: string; readonly email: string } | null;
}

/** Includes only the requested conditions: with further ones that may be null, PostgreSQL would not use the right index. */
function conditionsOf({ actor, action, customerId }: AuditSearch): { text: string; values: string[] } {
  const given = [
    { column: 'a.actor', value: actor },
    { column: 'a.action', value: action },
    { column: 'a.customer_id', value: customerId },
  ].flatMap(({ column, value }) => (value === undefined ? [] : [{ column, value }]));
  return { text: given.map(({ column }, index) => ` AND ${column} = $${index + 3}`).join(''), values: given.map(({ value }) => value) };
}

/** The statement of a page; $1: the number below which it begins, $2: maximum lines. */
export function auditStatement(query: AuditSearch): { text: string; values: string[] } {
  const { text, values } = conditionsOf(query);
  return {
    text: `
WITH page AS (SELECT * FROM audit_log a WHERE a.id < $1${text} ORDER BY a.id DESC LIMIT $2)
SELECT p.id::text AS number, p.at, p.actor, p.from_address AS "from", p.action, p.subject_kind AS "subjectKind", p.subject_id AS "subjectId",
  COALESCE(p.label, CASE WHEN p.subject_kind IN ('product', 'plan') THEN p.subject_id END) AS label, left(p.details::text, 4000) AS "detailsText",
  CASE WHEN c.id IS NOT NULL THEN json_build_object('id', c.id, 'email', c.email) END AS customer
FROM page p LEFT JOIN customer c ON c.id = p.customer_id ORDER BY p.id DESC`,
    values: [numberBefore(query.after), String(query.limit + 1), ...values],
  };
}

/** Details that were cut are no longer valid JSON; what is left is shown as it is. */
function detailsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { cut: text };
  }
}

/** Everything that was done, newest first. `next` is undefined at the end. */
export async function searchAudit(
  db: Database,
  query: AuditSearch,
): Promise<{ lines: readonly AuditLineOfAll[]; next: string | undefined }> {
  if (query.customerId !== undefined && !isUuid(query.customerId)) return { lines: [], next: undefined };
  const { text, values } = auditStatement(query);
  const found = await db.query<Omit<AuditLineOfAll, 'details'> & { number: string; detailsText: string }>(text, values);
  const { rows, next } = cutPage(found.rows, query.limit);
  return { lines: rows.map(({ detailsText, ...line }) => ({ ...line, details: detailsOf(detailsText) })), next };
}
