import { listOutboxMails } from '../../../../plugins/stores/postgres/customers/outbox-mail';
import { ServiceError } from '../../../kit/errors';
import { type openEndpoints } from '../../contract/account';
import { type Provider } from '../../contract/sign-in';
import { passkeyDomain } from '../accounts/passkeys/passkey-domain';
import { type Handlers } from './bind-endpoint';
import { isOwnName } from './own-origin';
import { Refusal } from './refusal';

const MOST_MAILS = 50;

interface OpenOptions {
  /** The dashboard's own URL. */
  readonly url: string;
  readonly providers: readonly Provider[];
}

/** What may be asked without a session. */
export const openHandlers = ({ url, providers }: OpenOptions): Handlers<typeof openEndpoints> => ({
  'GET /installation': (_call, { hasOutbox, gatewayUrl }) => ({
    hasOutbox,
    gatewayUrl,
    // Of what the dashboard knows of a provider, some is secret.
    providers: providers.map(({ id, name }) => ({ id, name })),
    hasPasskeys: passkeyDomain(url) !== undefined,
  }),

  'GET /outbox': async ({ request }, { db, hasOutbox }) => {
    // Where mail is sent for real there is no such page, and nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    if (!isOwnName(request.hostname, url)) throw new Refusal('forbidden', { detail: `The outbox is read at ${url}/outbox only.` });
    return { mails: await listOutboxMails(db, MOST_MAILS) };
  },
});
