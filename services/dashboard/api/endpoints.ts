import { accountEndpoint } from './account-endpoint';
import { type Endpoint } from './define-endpoint';
import { keyEndpoints } from './key-endpoints';
import { planEndpoints } from './plan-endpoints';

/** Everything below `/api` that needs a session: tests of isolation, forgery and bad input walk this list. */
export const endpoints: readonly Endpoint[] = [accountEndpoint, ...keyEndpoints, ...planEndpoints];
