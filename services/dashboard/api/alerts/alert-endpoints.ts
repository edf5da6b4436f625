import { z } from 'zod';
import { type AlertView, listAlerts, markAlertsRead } from '../../../../plugins/stores/postgres/webhooks/alert-view';
import { emptyReply } from '../../../kit/service/reply';
import { type Alert, alertPage, listAlertsQuery } from '../../contract/alerts';
import { alertText } from './alert-text';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';

/** A stored alert as pages show it. @param timeZone of its texts */
export function describeAlert(view: AlertView, timeZone: string): Alert {
  const { id, at, kind, percent, product, keyId, maskedKey, readAt } = view;
  return {
    id,
    at: at.toISOString(),
    kind,
    percent,
    product,
    keyId,
    maskedKey,
    text: alertText(view, timeZone),
    readAt: readAt?.toISOString() ?? null,
  };
}

const list = defineEndpoint({
  method: 'GET',
  path: '/alerts',
  query: listAlertsQuery,
  answer: alertPage,
  handler: async ({ query: { limit, after }, caller: { customerId } }, { db, timeZone }) => {
    const { alerts, unread, next } = await listAlerts(db, { customerId, limit, after });
    return { alerts: alerts.map((alert) => describeAlert(alert, timeZone)), unread, next: next ?? null };
  },
});

const read = defineEndpoint({
  method: 'POST',
  path: '/alerts/read',
  body: z.object({}),
  handler: async ({ caller: { customerId } }, { db }) => {
    await markAlertsRead(db, { customerId });
    return emptyReply(204);
  },
});

/** What the customer was told of its limits and keys. */
export const alertEndpoints: readonly Endpoint[] = [list, read];
