import { accountEndpoint } from './account-endpoint';
import { alertEndpoints } from './alert-endpoints';
import { auditEndpoints } from './audit-endpoints';
import { type Endpoint } from './define-endpoint';
import { explainEndpoints } from './explain-endpoints';
import { keyEndpoints } from './key-endpoints';
import { planEndpoints } from './plan-endpoints';
import { propagationEndpoint } from './propagation-endpoint';
import { tryEndpoint } from './try-endpoint';
import { usageEndpoints } from './usage-endpoints';
import { webhookEndpoints } from './webhook-endpoints';

/** Everything below `/api` that needs a session: tests of isolation, forgery and bad input walk this list. */
export const endpoints: readonly Endpoint[] = [
  accountEndpoint,
  ...keyEndpoints,
  propagationEndpoint,
  ...planEndpoints,
  ...usageEndpoints,
  ...explainEndpoints,
  ...alertEndpoints,
  ...webhookEndpoints,
  ...auditEndpoints,
  tryEndpoint,
];
