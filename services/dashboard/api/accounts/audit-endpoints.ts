import { type AuditLine, listAudit } from '../../../../plugins/stores/postgres/customers/list-audit';
import { auditPage, listAuditQuery } from '../../contract/audit';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';

const DASHBOARD = 'dashboard:';

/** Whoever did not come through the dashboard is an operator to the customer: names of programs mean nothing there. */
function actorOf({ actor }: AuditLine): string {
  return actor.startsWith(DASHBOARD) ? actor.slice(DASHBOARD.length) : 'operator';
}

const list = defineEndpoint({
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

/** Who changed what of the customer's. */
export const auditEndpoints: readonly Endpoint[] = [list];
