import { type AlertView, listAlerts, markAlertsRead } from '../../../selling/webhooks/alert-view';
import { readAlertSettings, setMailedKinds, setThresholds } from '../../../selling/alerts/alert-settings';
import { listOutages, listOutagesOf } from '../../../selling/outages/list-outages';
import { type alertEndpoints } from '../../contract/alerts';
import { type operatorOutageEndpoints, type outageEndpoints } from '../../contract/outages';
import { type Handlers } from '../../http/bind-endpoint';
import { alertText } from './alert-text';

/**
 * A stored alert in the form of the contract.
 * @param timeZone for its texts
 */
export const toAlert = (view: AlertView, timeZone: string) => ({ ...view, text: alertText(view, timeZone) });

/** Alerts about the customer's limits and keys. */
export const alertHandlers: Handlers<typeof alertEndpoints> = {
  'GET /alerts': async ({ query: { limit, after }, caller: { customerId } }, { db, timeZone }) => {
    const { alerts, unread, next } = await listAlerts(db, { customerId, limit, after });
    return { alerts: alerts.map((alert) => toAlert(alert, timeZone)), unread, next: next ?? null };
  },

  'POST /alerts/read': async ({ caller: { customerId } }, { db }) => markAlertsRead(db, { customerId }),

  'GET /alerts/settings': ({ caller: { customerId } }, { db }) => readAlertSettings(db, customerId),

  'PUT /alerts/settings': async ({ body: { mail }, caller: { customerId, actor } }, { db }) => {
    await setMailedKinds(db, { customerId, mail, actor });
    return readAlertSettings(db, customerId);
  },

  'PUT /subscriptions/:id/thresholds': async ({ params: { id }, body: { percents }, caller: { customerId, actor } }, { db }) => ({
    percents: await setThresholds(db, { id, customerId, percents, actor }),
  }),
};

/** Outages in which the customer's own requests failed. */
export const outageHandlers: Handlers<typeof outageEndpoints> = {
  'GET /outages': async ({ caller: { customerId } }, { db, timeZone }) => ({ outages: await listOutagesOf(db, { customerId, timeZone }) }),
};

/** Outages of all products. */
export const operatorOutageHandlers: Handlers<typeof operatorOutageEndpoints> = {
  'GET /operator/outages': async (_call, { db }) => ({ outages: await listOutages(db) }),
};
