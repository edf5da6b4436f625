import { changeWebhook, createWebhook, deleteWebhook, renewWebhookSecret, webhookVersion } from '../../../selling/webhooks/change-webhooks';
import { listDeliveries, replayDelivery, requestTestDelivery } from '../../../selling/webhooks/delivery-view';
import { viewWebhooks, type WebhookView } from '../../../selling/webhooks/webhook-view';
import { invalidInput } from '../../../kit/errors';
import { checkGuardedUrl } from '../../../kit/upstream/guarded-fetch';
import { FetchRefused } from '../../../kit/upstream/pinned-connector';
import { classifyAddress } from '../../../kit/upstream/reserved-addresses';
import { type webhookEndpoints } from '../../contract/alerts';
import { type Handlers } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { takeRequest } from '../../http/request-limit';

/** Each test is a request from our server to somebody else's. */
const sendLimit = (customerId: string) => ({ kind: 'webhook', customerId, mostPerMinute: 10 });

/** Checks the URL early and with a clear message. The host's address is checked when connecting. */
function checkUrl(text: string, { allowPrivateWebhooks: allowPrivate = false }: DashboardDeps): void {
  const refuse = (message: string): never => {
    throw invalidInput([{ field: 'url', message }]);
  };
  try {
    const { hostname, protocol } = checkGuardedUrl(text, { allowPrivate });
    // A signature does not hide what is sent.
    if (protocol !== 'https:' && !allowPrivate) refuse('must start with https://');
    const isReserved = classifyAddress(hostname.replace(/^\[|\]$/g, ''))?.isReserved ?? /^localhost\.?$/i.test(hostname);
    if (isReserved && !allowPrivate) refuse('must be a public address');
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    refuse(error.reason === 'userinfo_refused' ? 'must have no user name or password' : 'must be https on its usual port');
  }
}

/** A stored webhook in the form of the contract. */
export const toWebhook = (view: WebhookView) => ({ ...view, version: webhookVersion(view) });

const withSecret = ({ secret, webhook }: { readonly secret: string; readonly webhook: WebhookView }) => ({
  secret,
  webhook: toWebhook(webhook),
});

/** The receivers of alerts, and their deliveries. */
export const webhookHandlers: Handlers<typeof webhookEndpoints> = {
  'GET /webhooks': async ({ caller: { customerId } }, { db, allowPrivateWebhooks: mayBePrivate = false }) => ({
    webhooks: (await viewWebhooks(db, customerId)).map(toWebhook),
    mayBePrivate,
  }),

  'POST /webhooks': async ({ body: { url }, caller: { customerId, actor } }, deps) => {
    checkUrl(url, deps);
    return withSecret(await createWebhook(deps.db, { customerId, url, actor }));
  },

  'PATCH /webhooks/:id': async ({ params: { id }, body, caller: { customerId, actor } }, deps) => {
    if (body.url !== undefined) checkUrl(body.url, deps);
    return toWebhook(await changeWebhook(deps.db, { ...body, id, customerId, actor }));
  },

  'DELETE /webhooks/:id': ({ params: { id }, caller: { customerId, actor } }, { db }) => deleteWebhook(db, { id, customerId, actor }),

  'POST /webhooks/:id/secret': async ({ params: { id }, caller: { customerId, actor } }, { db }) =>
    withSecret(await renewWebhookSecret(db, { id, customerId, actor })),

  'POST /webhooks/:id/test': async ({ params: { id }, caller: { customerId } }, { db }) => {
    await takeRequest(db, sendLimit(customerId));
    return requestTestDelivery(db, { id, customerId });
  },

  'GET /webhooks/:id/deliveries': async ({ params: { id }, query, caller: { customerId } }, { db }) => {
    const { deliveries, next } = await listDeliveries(db, { id, customerId, ...query });
    return { deliveries, next: next ?? null };
  },

  'POST /webhooks/:id/deliveries/:deliveryId/replay': async ({ params: { id, deliveryId }, caller: { customerId } }, { db }) => {
    await takeRequest(db, sendLimit(customerId));
    return replayDelivery(db, { id, customerId, deliveryId });
  },
};
