import { type FastifyInstance } from 'fastify';
import { listOutboxMails } from '../../../../plugins/stores/postgres/customers/outbox-mail';
import { ServiceError } from '../../../kit/errors';
import { type Installation, type Outbox } from '../../contract/account';
import { type DashboardDeps } from './define-endpoint';
import { isOwnName } from './own-origin';
import { Refusal } from './refusal';

const MOST_MAILS = 50;

/**
 * What may be asked without a session.
 * @param url the dashboard's own URL
 */
export function addOpenRoutes(app: FastifyInstance, { db, hasOutbox, gatewayUrl }: DashboardDeps, url: string): void {
  app.get('/api/installation', (): Installation => ({ hasOutbox, gatewayUrl }));
  app.get('/api/outbox', async (request): Promise<Outbox> => {
    // Where mail is sent for real there is no such page, and nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    if (!isOwnName(request.hostname, url)) throw new Refusal('forbidden', { detail: `The outbox is read at ${url}/outbox only.` });
    const mails = await listOutboxMails(db, MOST_MAILS);
    return { mails: mails.map((mail) => ({ ...mail, at: mail.at.toISOString() })) };
  });
}
