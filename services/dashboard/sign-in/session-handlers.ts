import { type Pool } from 'pg';
import { PERMISSIONS, permissionsOf } from '../../selling/members/member-roles';
import { listPaid } from '../../selling/paid-plans/paid-subscriptions';
import { PAYMENT_ACTOR } from '../../selling/suspensions/suspend';
import { hasInvoices } from '../../selling/billing/invoice-view';
import { type AuditLine, listAudit } from '../../selling/customers/list-audit';
import { hasSecondFactor } from '../../selling/customers/ways-to-sign-in';
import { findCustomerSuspension } from '../../selling/suspensions/show-customers';
import { type sessionEndpoints } from '../contract/account';
import { type auditEndpoints } from '../contract/audit';
import { isCollecting } from '../../selling/billing/payments-of';
import { type Handlers } from '../http/bind-endpoint';
import { takeRequest } from '../http/request-limit';
import { csvRecord, readPages } from '../http/csv';

/** The signed-in person, and what the pages need to know about this installation. */
export const sessionHandlers: Handlers<typeof sessionEndpoints> = {
  'GET /session': async (
    { caller: { email, customerId, organisation, member } },
    { db, gatewayUrl, timeZone: quotaTimeZone, hasOutbox, catalogue, payments },
  ) => {
    const suspended = await findCustomerSuspension(db, customerId);
    const facts = { gatewayUrl, quotaTimeZone, hasOutbox, hasSecondFactor: await hasSecondFactor(db, { email }) };
    const sold = await catalogue();
    const isBilled = sold.billing?.provider === 'invoice' || isCollecting(sold, payments);
    const hasBilling = isBilled || (await hasInvoices(db, customerId)) || (await listPaid(db, customerId)).length > 0;
    const place = { customerId, organisation, role: member?.role ?? null, organisations: member?.memberships ?? [] };
    // An operator who looks sees every button. Every attempt to change something is refused.
    const permissions = member ? permissionsOf(member.role) : PERMISSIONS;
    return { email, ...place, permissions, ...facts, hasBilling, suspended };
  },
};

const DASHBOARD = 'dashboard:';
const TOKEN = 'token:';

/** For customers, changes from outside the dashboard are by an operator, because names of programs mean nothing to them. */
function actorOf({ actor }: AuditLine): string {
  if (actor.startsWith(TOKEN)) return `token “${actor.slice(TOKEN.length)}”`;
  if (actor === PAYMENT_ACTOR) return 'payment provider';
  return actor.startsWith(DASHBOARD) ? actor.slice(DASHBOARD.length) : 'operator';
}

/** A line in the form of the contract. */
function toEntry(line: AuditLine) {
  const { subjectKind: kind, subjectId, label } = line;
  return { ...line, actor: actorOf(line), subject: { kind, id: subjectId, label } };
}

/** A minute. Each reads the whole log. */
const MAX_EXPORTS = 6;
const LINES_AT_ONCE = 500;

/** Read page by page while it is sent. */
async function* auditRecords(db: Pool, query: { customerId: string; kind?: string | undefined }): AsyncGenerator<string> {
  yield csvRecord(['time', 'user', 'address', 'action', 'subject', 'subject_id', 'label', 'details']);
  for await (const { lines } of readPages((after) => listAudit(db, { ...query, limit: LINES_AT_ONCE, after }))) {
    for (const line of lines) {
      const { at, actor, from, action, subject, details } = toEntry(line);
      yield csvRecord([
        at.toISOString(),
        actor,
        from ?? '',
        action,
        subject.kind,
        subject.id,
        subject.label ?? '',
        JSON.stringify(details),
      ]);
    }
  }
}

/** The audit log of the account. */
export const auditHandlers: Handlers<typeof auditEndpoints> = {
  'GET /audit': async ({ query, caller: { customerId } }, { db }) => {
    const { lines, next } = await listAudit(db, { ...query, customerId });
    return { entries: lines.map(toEntry), next: next ?? null };
  },

  'GET /audit.csv': async ({ query, caller: { customerId } }, { db }) => {
    await takeRequest(db, { kind: 'audit-export', customerId, mostPerMinute: MAX_EXPORTS });
    return { filename: 'tollgate-audit.csv', content: auditRecords(db, { ...query, customerId }) };
  },
};
