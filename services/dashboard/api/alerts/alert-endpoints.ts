import { type Pool } from 'pg';
import { z } from 'zod';
import { id } from '../../contract/fields';
import { type AlertView, listAlerts, markAlertsRead } from '../../../../plugins/stores/postgres/webhooks/alert-view';
import { emptyReply } from '../../../kit/service/reply';
import {
  type Alert,
  alertPage,
  type AlertSettings,
  alertSettings,
  alertSettingsBody,
  listAlertsQuery,
  thresholds,
} from '../../contract/alerts';
import { readAlertSettings, setMailedKinds, setThresholds } from '../../../../plugins/stores/postgres/alerts/alert-settings';
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
  needs: 'read',
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
  needs: 'notices',
  body: z.object({}),
  handler: async ({ caller: { customerId } }, { db }) => {
    await markAlertsRead(db, { customerId });
    return emptyReply(204);
  },
});

async function settingsOf(db: Pool, customerId: string): Promise<AlertSettings> {
  const { mail, thresholds: own } = await readAlertSettings(db, customerId);
  return { mail, thresholds: own.map(({ subscriptionId, percents }) => ({ subscriptionId, percents: [...percents] })) };
}

const settings = defineEndpoint({
  method: 'GET',
  path: '/alerts/settings',
  needs: 'read',
  answer: alertSettings,
  handler: ({ caller: { customerId } }, { db }) => settingsOf(db, customerId),
});

const changeSettings = defineEndpoint({
  method: 'PUT',
  path: '/alerts/settings',
  needs: 'alerts',
  body: alertSettingsBody,
  answer: alertSettings,
  handler: async ({ body: { mail }, caller: { customerId, actor } }, { db }) => {
    await setMailedKinds(db, { customerId, mail, actor });
    return settingsOf(db, customerId);
  },
});

const changeThresholds = defineEndpoint({
  method: 'PUT',
  path: '/subscriptions/:id/thresholds',
  needs: 'alerts',
  params: z.object({ id }),
  body: thresholds,
  answer: thresholds,
  handler: async ({ params, body: { percents }, caller: { customerId, actor } }, { db }) => {
    const now = await setThresholds(db, { id: params.id, customerId, percents, actor });
    return { percents: now && [...now] };
  },
});

/** What the customer was told of its limits and keys. */
export const alertEndpoints: readonly Endpoint[] = [list, read, settings, changeSettings, changeThresholds];
