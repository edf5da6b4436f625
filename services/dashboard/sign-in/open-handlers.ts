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
/** The links in it sign people in. */
const OTHERS_OUTBOX = 'The outbox is for the user of this machine who runs Tollgate.';

interface OpenOptions {
  /** The dashboard's own URL. */
  readonly url: string;
  readonly providers: readonly Provider[];
}

/** Endpoints that need no session. */
export const openHandlers = ({ url, providers }: OpenOptions): Handlers<typeof openEndpoints> => ({
  'GET /installation': (_call, { hasOutbox, gatewayUrl }) => ({
    hasOutbox,
    gatewayUrl,
    // Some of the dashboard's knowledge of a provider is secret.
    providers: providers.map(({ id, name }) => ({ id, name })),
    hasPasskeys: passkeyDomain(url) !== undefined,
  }),

  'GET /outbox': async ({ request }, { db, hasOutbox, isOutboxOwn = false }) => {
    // When mail is really sent, the page does not exist and there is nothing to read.
    if (!hasOutbox) throw new ServiceError('route_unknown');
    if (!isOwnName(request.hostname, url)) throw new Refusal('forbidden', { detail: `The outbox is read at ${url}/outbox only.` });
    if (isOutboxOwn && !(await isOwnUser(request.socket))) throw new Refusal('forbidden', { detail: OTHERS_OUTBOX });
    return { mails: await listOutboxMails(db, MAX_MAILS) };
  },
});
