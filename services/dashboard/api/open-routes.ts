import { type FastifyInstance } from 'fastify';
import { listOutboxMails } from '../../../plugins/stores/postgres/outbox-mail';
import { ServiceError } from '../../kit/errors';
import { type Installation, type Outbox } from '../contract/account';
import { type DashboardDeps } from './define-endpoint';

const MOST_MAILS = 50;

/** What may be asked without a session. */
export function addOpenRoutes(app: FastifyInstance, { db, hasOutbox, gatewayUrl }: DashboardDeps): void {
  app.get('/api/installation', (): Installation => ({ hasOutbox, gatewayUrl }));
  app.get('/api/outbox', async (): Promise<Outbox> => {
    // Where mail is sent for real there is no such page, and nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    const mails = await listOutboxMails(db, MOST_MAILS);
    return { mails: mails.map((mail) => ({ ...mail, at: mail.at.toISOString() })) };
  });
}
