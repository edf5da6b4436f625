import { operatorSession } from '../../contract/operator';
import { defineOperatorEndpoint } from './define-operator-endpoint';

/** Which operator is signed in, and what the pages need to know of this installation. */
export const sessionEndpoint = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/session',
  answer: operatorSession,
  handler: ({ caller: { email } }, { gatewayUrl, timeZone }) => Promise.resolve({ email, gatewayUrl, quotaTimeZone: timeZone }),
});
