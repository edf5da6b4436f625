import { Readable } from 'node:stream';
import { takeAttempt } from '../../../../plugins/stores/postgres/customers/attempts';
import { exportPerson } from '../../../../plugins/stores/postgres/customers/export-person';
import { writeAudit } from '../../../../plugins/stores/postgres/customers/write-audit';
import { streamReply } from '../../../kit/service/reply';
import { passwordProof } from '../../contract/account';
import { Refusal } from '../http/refusal';
import { definePersonEndpoint } from './person';

/** An hour: each reads everything. */
const MOST_EXPORTS = 3;
const HOUR_S = 3_600;

/** Everything that is known of the person, as one file. */
export const exportEndpoint = definePersonEndpoint({
  method: 'POST',
  path: '/account/export',
  body: passwordProof,
  handler: async ({ caller, body }, { db, clock }) => {
    const { userId, customerId, actor } = caller;
    await caller.confirm(body.password);
    const wait = await takeAttempt(db, { key: `export|${userId}`, most: MOST_EXPORTS, windowSeconds: HOUR_S });
    if (wait !== undefined) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': String(wait) } });
    if (customerId !== undefined) await writeAudit(db, { actor, action: 'account.export', subject: { kind: 'customer', id: customerId } });
    const headers = { 'Content-Disposition': 'attachment; filename="tollgate-account.json"' };
    const document = exportPerson(db, { userId, customerId, at: new Date(clock.now()) });
    return streamReply(Readable.from(document), 'application/json; charset=utf-8', { headers });
  },
});
