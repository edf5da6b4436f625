import { Readable } from 'node:stream';
import { type Pool } from 'pg';
import { MOST_OF_ALL } from '../../../../plugins/stores/postgres/operators/most-of-all';
import { type AuditQuery, searchAudit } from '../../../../plugins/stores/postgres/operators/search-audit';
import { streamReply } from '../../../kit/service/reply';
import { auditFileQuery, auditOfAll, searchAuditQuery } from '../../contract/operator';
import { csvRecord } from '../requests/usage-csv';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const search = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/audit',
  query: searchAuditQuery,
  answer: auditOfAll,
  handler: async ({ query: { customer: customerId, limit, ...query } }, { db }) => {
    const { lines, next } = await searchAudit(db, {
      ...query,
      customerId,
      limit: customerId === undefined ? Math.min(limit, MOST_OF_ALL) : limit,
    });
    return {
      entries: lines.map(({ at, actor, from, action, subjectKind, subjectId, label, customer, details }) => ({
        at: at.toISOString(),
        actor,
        from,
        action,
        subject: { kind: subjectKind, id: subjectId, label },
        customer,
        details: { ...details },
      })),
      next: next ?? null,
    };
  },
});

const BATCH = 500;
/** What a spreadsheet opens, and no more than a minute's work. */
const MOST_LINES = 100_000;

/** The lines that are asked for, newest first, read a few at a time. */
async function* records(db: Pool, query: Omit<AuditQuery, 'limit' | 'after'>): AsyncGenerator<string> {
  yield csvRecord(['at', 'actor', 'from', 'action', 'subject_kind', 'subject_id', 'subject', 'customer', 'details']);
  let after: string | undefined;
  for (let count = 0; count < MOST_LINES; count += BATCH) {
    const { lines, next } = await searchAudit(db, { ...query, limit: BATCH, after });
    for (const { at, actor, from, action, subjectKind, subjectId, label, customer, details } of lines) {
      const about = [subjectKind, subjectId, label ?? '', customer?.email ?? '', JSON.stringify(details)];
      yield csvRecord([at.toISOString(), actor, from ?? '', action, ...about]);
    }
    if (next === undefined) return;
    after = next;
  }
}

const download = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/audit.csv',
  query: auditFileQuery,
  handler: ({ query: { customer: customerId, ...query } }, { db, clock }) => {
    const name = `tollgate-audit-${new Date(clock.now()).toISOString().slice(0, 10)}.csv`;
    const headers = { 'Content-Disposition': `attachment; filename="${name}"` };
    const body = Readable.from(records(db, { ...query, customerId }));
    return Promise.resolve(streamReply(body, 'text/csv; charset=utf-8; header=present', { headers }));
  },
});

/** What was done, by whomever and to whomever. */
export const auditEndpoints: readonly OperatorEndpoint[] = [search, download];
