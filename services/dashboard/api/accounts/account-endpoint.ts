import { session } from '../../contract/account';
import { defineEndpoint } from '../http/define-endpoint';

/** Who is signed in, and what the pages need to know of this installation. */
export const accountEndpoint = defineEndpoint({
  method: 'GET',
  path: '/session',
  answer: session,
  handler: ({ caller: { email, customerId } }, { gatewayUrl, timeZone, hasOutbox }) =>
    Promise.resolve({ email, customerId, gatewayUrl, quotaTimeZone: timeZone, hasOutbox }),
});
