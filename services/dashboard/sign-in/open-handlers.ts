import { listOutboxMails } from '../../selling/customers/outbox-mail';
import { ServiceError } from '../../kit/errors';
import { type openEndpoints } from '../contract/account';
import { type Provider } from '../contract/sign-in';
import { passkeyDomain } from './passkeys/passkey-domain';
import { type Handlers } from '../http/bind-endpoint';
import { isOwnName } from '../http/own-origin';
import { isOwnUser } from '../http/peer-user';
import { Refusal } from '../http/refusal';

const MAX_MAILS = 50;
/** Its links sign people in. */
const OTHERS_OUTBOX = 'The outbox is for the user of this machine who runs Tollgate.';

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

  'GET /outbox': async ({ request }, { db, hasOutbox, isOutboxOwn = false }) => {
    // Where mail is sent for real there is no such page, and nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    if (!isOwnName(request.hostname, url)) throw new Refusal('forbidden', { detail: `The outbox is read at ${url}/outbox only.` });
    if (isOutboxOwn && !(await isOwnUser(request.socket))) throw new Refusal('forbidden', { detail: OTHERS_OUTBOX });
    return { mails: await listOutboxMails(db, MAX_MAILS) };
  },
});
