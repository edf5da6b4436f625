import { listOutages, listOutagesOf } from '../../../selling/outages/list-outages';
import { type operatorOutageEndpoints, type outageEndpoints } from '../../contract/outages';
import { type Handlers } from '../../http/bind-endpoint';

/** Outages in which the customer's own requests failed. */
export const outageHandlers: Handlers<typeof outageEndpoints> = {
  'GET /outages': async ({ caller: { customerId } }, { db, timeZone }) => ({ outages: await listOutagesOf(db, { customerId, timeZone }) }),
};

/** Outages of all products. */
export const operatorOutageHandlers: Handlers<typeof operatorOutageEndpoints> = {
  'GET /operator/outages': async (_call, { db }) => ({ outages: await listOutages(db) }),
};
