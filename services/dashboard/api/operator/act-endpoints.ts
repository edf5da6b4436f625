import { z } from 'zod';
import { createKey } from '../../../../plugins/stores/postgres/keys/create-key';
import { setKeyState } from '../../../../plugins/stores/postgres/keys/set-key-state';
import { runIdempotently } from '../../../../plugins/stores/postgres/idempotent-operation';
import { requireCustomer } from '../../../../plugins/stores/postgres/customers/find-customer';
import { setLimits } from '../../../../plugins/stores/postgres/operators/limit-terms';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../../../plugins/stores/postgres/suspensions/suspend';
import { emptyReply } from '../../../kit/service/reply';
import { id } from '../../contract/fields';
import { issuedKey, issueKeyBody, setLimitsBody, suspendBody } from '../../contract/operator-customers';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const params = z.object({ id });

const suspend = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/suspensions',
  body: suspendBody,
  handler: async ({ body, caller: { actor } }, { db }) => {
    const wish = { reason: body.reason ?? undefined, actor };
    switch (body.kind) {
      case 'customer':
        await suspendCustomer(db, { customer: body.id, ...wish });
        break;
      case 'key':
        await suspendKey(db, { id: body.id, ...wish });
        break;
      case 'subscription':
        await suspendSubscription(db, { id: body.id, ...wish });
    }
    return emptyReply(204);
  },
});

const issueKey = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/customers/:id/keys',
  params,
  body: issueKeyBody,
  answer: issuedKey,
  handler: async ({ params: { id: customer }, body, caller: { actor } }, { db }) => {
    const { submission, name, mode, products } = body;
    const { id: customerId } = await requireCustomer(db, customer);
    const wanted = { customer: customerId, actor, mode, products, keepsLimits: true, ...(name === undefined ? {} : { name }) };
    const made = await runIdempotently(db, { customerId, submission }, (client) => createKey(client, wanted));
    return { secret: made.key, id: made.id };
  },
});

const revokeKey = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/keys/:id/revoke',
  params,
  body: z.object({}),
  handler: async ({ params: { id: keyId }, caller: { actor } }, { db }) => {
    await setKeyState(db, { id: keyId, state: 'revoked', actor });
    return emptyReply(204);
  },
});

const limits = defineOperatorEndpoint({
  method: 'PUT',
  path: '/operator/subscriptions/:id/limits',
  params,
  body: setLimitsBody,
  handler: async ({ params: { id: subscriptionId }, body, caller: { actor, email } }, { db }) => {
    const endsAt = body.endsAt === null ? null : new Date(body.endsAt);
    await setLimits(db, { ...body, endsAt, id: subscriptionId, actor, setBy: email });
    return emptyReply(204);
  },
});

/** What operators do; each in one transaction with its line of the audit log. */
export const actEndpoints: readonly OperatorEndpoint[] = [suspend, issueKey, revokeKey, limits];
