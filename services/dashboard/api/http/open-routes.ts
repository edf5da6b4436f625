import { type FastifyInstance } from 'fastify';
import { listOutboxMails } from '../../../../plugins/stores/postgres/customers/outbox-mail';
import { ServiceError } from '../../../kit/errors';
import { type Installation, type Outbox } from '../../contract/account';
import { type Provider } from '../../contract/sign-in';
import { passkeyDomain } from '../accounts/passkeys/passkey-domain';
import { type DashboardDeps } from './define-endpoint';
import { isOwnName } from './own-origin';
import { Refusal } from './refusal';

const MOST_MAILS = 50;

interface OpenRoutesOptions {
  /** The dashboard's own URL. */
  readonly url: string;
  readonly providers: readonly Provider[];
}

/** What may be asked without a session. */
export function addOpenRoutes(
  app: FastifyInstance,
  { db, hasOutbox, gatewayUrl }: DashboardDeps,
  { url, providers }: OpenRoutesOptions,
): void {
  const offered = providers.map(({ id, name }) => ({ id, name }));
  const hasPasskeys = passkeyDomain(url) !== undefined;
  app.get('/api/installation', (): Installation => ({ hasOutbox, gatewayUrl, providers: offered, hasPasskeys }));
  app.get('/api/outbox', async (request): Promise<Outbox> => {
    // Where mail is sent for real there is no such page, and nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    if (!isOwnName(request.hostname, url)) throw new Refusal('forbidden', { detail: `The outbox is read at ${url}/outbox only.` });
    const mails = await listOutboxMails(db, MOST_MAILS);
    return { mails: mails.map((mail) => ({ ...mail, at: mail.at.toISOString() })) };
  });
}
