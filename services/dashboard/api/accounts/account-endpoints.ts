import { type AuditLine, listAudit } from '../../../../plugins/stores/postgres/customers/list-audit';
import { hasSecondFactor } from '../../../../plugins/stores/postgres/customers/has-second-factor';
import { findCustomerSuspension } from '../../../../plugins/stores/postgres/customers/show-customers';
import { session } from '../../contract/account';
import { auditPage, listAuditQuery } from '../../contract/audit';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';

/** Who is signed in, and what the pages need to know of this installation. */
const whoAmI = defineEndpoint({
  method: 'GET',
  path: '/session',
  answer: session,
  handler: async ({ caller: { email, customerId } }, { db, gatewayUrl, timeZone: quotaTimeZone, hasOutbox }) => {
    const suspended = await findCustomerSuspension(db, customerId);
    const facts = { gatewayUrl, quotaTimeZone, hasOutbox, hasSecondFactor: await hasSecondFactor(db, { email }) };
    return { email, customerId, ...facts, ...(suspended && { suspended }) };
  },
});

const DASHBOARD = 'dashboard:';
const TOKEN = 'token:';

/** Whoever did not come through the dashboard is an operator to the customer: names of programs mean nothing there. */
function actorOf({ actor }: AuditLine): string {
  if (actor.startsWith(TOKEN)) return `token “${actor.slice(TOKEN.length)}”`;
  return actor.startsWith(DASHBOARD) ? actor.slice(DASHBOARD.length) : 'operator';
}

const auditLog = defineEndpoint({
  method: 'GET',
  path: '/audit',
  query: listAuditQuery,
  answer: auditPage,
  handler: async ({ query, caller: { customerId } }, { db }) => {
    const { lines, next } = await listAudit(db, { customerId, limit: query.limit, after: query.after });
    return {
      entries: lines.map((line) => ({
        at: line.at.toISOString(),
        actor: actorOf(line),
        from: line.from,
        action: line.action,
        subject: { kind: line.subjectKind, id: line.subjectId, label: line.label },
        details: { ...line.details },
      })),
      next: next ?? null,
    };
  },
});

/** Who is signed in, and who changed what in the account. */
export const accountEndpoints: readonly Endpoint[] = [whoAmI, auditLog];
