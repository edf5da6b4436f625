import { Readable } from 'node:stream';
import { type Pool } from 'pg';
import { PERMISSIONS, permissionsOf } from '../../../../plugins/core/selling/member-roles';
import { type AuditLine, listAudit } from '../../../../plugins/stores/postgres/customers/list-audit';
import { hasSecondFactor } from '../../../../plugins/stores/postgres/customers/ways-to-sign-in';
import { findCustomerSuspension } from '../../../../plugins/stores/postgres/customers/show-customers';
import { session } from '../../contract/account';
import { streamReply } from '../../../kit/service/reply';
import { type AuditLog, auditPage, exportAuditQuery, listAuditQuery } from '../../contract/audit';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { takeRequest } from '../http/request-limit';
import { csvRecord } from '../requests/usage-csv';

/** Who is signed in, and what the pages need to know of this installation. */
const whoAmI = defineEndpoint({
  method: 'GET',
  path: '/session',
  needs: 'read',
  answer: session,
  handler: async ({ caller: { email, customerId, organisation, member } }, { db, gatewayUrl, timeZone: quotaTimeZone, hasOutbox }) => {
    const suspended = await findCustomerSuspension(db, customerId);
    const facts = { gatewayUrl, quotaTimeZone, hasOutbox, hasSecondFactor: await hasSecondFactor(db, { email }) };
    const place = { customerId, organisation, role: member?.role ?? null, organisations: [...(member?.memberships ?? [])] };
    // An operator who looks sees every button; whatever is tried says that nothing can be changed.
    const permissions = [...(member ? permissionsOf(member.role) : PERMISSIONS)];
    return { email, ...place, permissions, ...facts, ...(suspended && { suspended }) };
  },
});

const DASHBOARD = 'dashboard:';
const TOKEN = 'token:';

/** Whoever did not come through the dashboard is an operator to the customer: names of programs mean nothing there. */
function actorOf({ actor }: AuditLine): string {
  if (actor.startsWith(TOKEN)) return `token “${actor.slice(TOKEN.length)}”`;
  return actor.startsWith(DASHBOARD) ? actor.slice(DASHBOARD.length) : 'operator';
}

function describeLine(line: AuditLine): AuditLog['entries'][number] {
  return {
    at: line.at.toISOString(),
    actor: actorOf(line),
    from: line.from,
    action: line.action,
    subject: { kind: line.subjectKind, id: line.subjectId, label: line.label },
    details: { ...line.details },
  };
}

const auditLog = defineEndpoint({
  method: 'GET',
  path: '/audit',
  needs: 'read',
  query: listAuditQuery,
  answer: auditPage,
  handler: async ({ query, caller: { customerId } }, { db }) => {
    const { lines, next } = await listAudit(db, { ...query, customerId });
    return { entries: lines.map(describeLine), next: next ?? null };
  },
});

/** A minute: each reads the whole log. */
const MOST_EXPORTS = 6;
const LINES_AT_ONCE = 500;

/** Page by page while it is sent: however long the log, a process holds 500 lines of it. */
async function* auditRecords(db: Pool, query: { customerId: string; kind?: string | undefined }): AsyncGenerator<string> {
  yield csvRecord(['time', 'user', 'address', 'action', 'subject', 'subject_id', 'label', 'details']);
  for (let after: string | undefined, isLast = false; !isLast;) {
    const { lines, next } = await listAudit(db, { ...query, limit: LINES_AT_ONCE, after });
    for (const line of lines) {
      const { at, actor, from, action, subject, details } = describeLine(line);
      yield csvRecord([at, actor, from ?? '', action, subject.kind, subject.id, subject.label ?? '', JSON.stringify(details)]);
    }
    isLast = next === undefined;
    after = next;
  }
}

const exportLog = defineEndpoint({
  method: 'GET',
  path: '/audit.csv',
  needs: 'read',
  query: exportAuditQuery,
  handler: async ({ query, caller: { customerId } }, { db }) => {
    await takeRequest(db, { kind: 'audit-export', customerId, mostPerMinute: MOST_EXPORTS });
    const headers = { 'Content-Disposition': 'attachment; filename="tollgate-audit.csv"' };
    return streamReply(Readable.from(auditRecords(db, { ...query, customerId })), 'text/csv; charset=utf-8; header=present', { headers });
  },
});

/** Who is signed in, and who changed what in the account. */
export const accountEndpoints: readonly Endpoint[] = [whoAmI, auditLog, exportLog];
