import { z } from 'zod';
import { changeWebhook, deleteWebhook, renewWebhookSecret } from '../../../../plugins/stores/postgres/webhooks/change-webhook';
import { createWebhook } from '../../../../plugins/stores/postgres/webhooks/create-webhook';
import { listDeliveries, replayDelivery, requestTestDelivery } from '../../../../plugins/stores/postgres/webhooks/delivery-view';
import { viewWebhooks } from '../../../../plugins/stores/postgres/webhooks/webhook-view';
import { invalidInput } from '../../../kit/errors';
import { checkGuardedUrl } from '../../../kit/upstream/guarded-fetch';
import { FetchRefused } from '../../../kit/upstream/pinned-connector';
import { emptyReply } from '../../../kit/service/reply';
import { classifyAddress } from '../../../kit/upstream/reserved-addresses';
import { changeWebhookBody, createdWebhook, createWebhookBody, delivery, deliveryPage, webhook, webhookList } from '../../contract/alerts';
import { cursor, id, pageSize } from '../../contract/fields';
import { type DashboardDeps, defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { takeRequest } from '../http/request-limit';
import { describeDelivery, describeWebhook } from './describe-webhook';

const params = z.object({ id });
/** Each is a request to somebody else's server, made by ours. */
const sendLimit = (customerId: string) => ({ kind: 'webhook', customerId, mostPerMinute: 10 });

/** Early and in words; whatever the host name resolves to is judged when connecting. */
function checkUrl(text: string, { allowPrivateWebhooks: allowPrivate = false }: DashboardDeps): void {
  const refuse = (message: string): never => {
    throw invalidInput([{ field: 'url', message }]);
  };
  try {
    const { hostname, protocol } = checkGuardedUrl(text, { allowPrivate });
    // What is signed can still be read on its way.
    if (protocol !== 'https:' && !allowPrivate) refuse('must start with https://');
    const isReserved = classifyAddress(hostname.replace(/^\[|\]$/g, ''))?.isReserved ?? /^localhost\.?$/i.test(hostname);
    if (isReserved && !allowPrivate) refuse('must be a public address');
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    refuse(error.reason === 'userinfo_refused' ? 'must have no user name or password' : 'must be https on its usual port');
  }
}

const list = defineEndpoint({
  method: 'GET',
  path: '/webhooks',
  needs: 'read',
  answer: webhookList,
  handler: async ({ caller: { customerId } }, { db, allowPrivateWebhooks: mayBePrivate = false }) => ({
    webhooks: (await viewWebhooks(db, customerId)).map(describeWebhook),
    mayBePrivate,
  }),
});

const create = defineEndpoint({
  method: 'POST',
  path: '/webhooks',
  needs: 'webhooks',
  body: createWebhookBody,
  answer: createdWebhook,
  handler: async ({ body: { url }, caller: { customerId, actor } }, deps) => {
    checkUrl(url, deps);
    const made = await createWebhook(deps.db, { customerId, url, actor });
    return { secret: made.secret, webhook: describeWebhook(made.webhook) };
  },
});

const change = defineEndpoint({
  method: 'PATCH',
  path: '/webhooks/:id',
  needs: 'webhooks',
  params,
  body: changeWebhookBody,
  answer: webhook,
  handler: async ({ params: ref, body, caller: { customerId, actor } }, deps) => {
    if (body.url !== undefined) checkUrl(body.url, deps);
    return describeWebhook(await changeWebhook(deps.db, { ...body, id: ref.id, customerId, actor }));
  },
});

const remove = defineEndpoint({
  method: 'DELETE',
  path: '/webhooks/:id',
  needs: 'webhooks',
  params,
  handler: async ({ params: ref, caller: { customerId, actor } }, { db }) => {
    await deleteWebhook(db, { id: ref.id, customerId, actor });
    return emptyReply(204);
  },
});

const renewSecret = defineEndpoint({
  method: 'POST',
  path: '/webhooks/:id/secret',
  needs: 'webhooks',
  params,
  body: z.object({}),
  answer: createdWebhook,
  handler: async ({ params: ref, caller: { customerId, actor } }, { db }) => {
    const renewed = await renewWebhookSecret(db, { id: ref.id, customerId, actor });
    return { secret: renewed.secret, webhook: describeWebhook(renewed.webhook) };
  },
});

const test = defineEndpoint({
  method: 'POST',
  path: '/webhooks/:id/test',
  needs: 'webhooks',
  params,
  body: z.object({}),
  answer: delivery,
  handler: async ({ params: ref, caller: { customerId } }, deps) => {
    await takeRequest(deps.db, sendLimit(customerId));
    return describeDelivery(await requestTestDelivery(deps.db, { id: ref.id, customerId }));
  },
});

const deliveries = defineEndpoint({
  method: 'GET',
  path: '/webhooks/:id/deliveries',
  needs: 'read',
  params,
  query: z.object({ after: cursor.optional(), limit: pageSize }),
  answer: deliveryPage,
  handler: async ({ params: ref, query, caller: { customerId } }, { db }) => {
    const page = await listDeliveries(db, { id: ref.id, customerId, limit: query.limit, after: query.after });
    return { deliveries: page.deliveries.map(describeDelivery), next: page.next ?? null };
  },
});

const replay = defineEndpoint({
  method: 'POST',
  path: '/webhooks/:id/deliveries/:deliveryId/replay',
  needs: 'webhooks',
  params: z.object({ id, deliveryId: id }),
  body: z.object({}),
  answer: delivery,
  handler: async ({ params: { id: wanted, deliveryId }, caller: { customerId } }, deps) => {
    await takeRequest(deps.db, sendLimit(customerId));
    return describeDelivery(await replayDelivery(deps.db, { id: wanted, customerId, deliveryId }));
  },
});

/** Where alerts are sent to, and how that went. */
export const webhookEndpoints: readonly Endpoint[] = [list, create, change, remove, renewSecret, test, deliveries, replay];
