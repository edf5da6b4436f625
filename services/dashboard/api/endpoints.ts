import { accountEndpoints } from './accounts/account-endpoints';
import { alertEndpoints } from './alerts/alert-endpoints';
import { type Endpoint } from './http/define-endpoint';
import { explainEndpoints } from './requests/explain-endpoints';
import { keyEndpoints } from './keys/key-endpoints';
import { planEndpoints } from './plans/plan-endpoints';
import { statementEndpoints } from './plans/statement-endpoints';
import { propagationEndpoint } from './keys/propagation-endpoint';
import { teamEndpoints } from './team/team-endpoints';
import { tokenEndpoints } from './management/token-endpoints';
import { requestLogEndpoints } from './requests/request-log-endpoints';
import { tryEndpoint } from './requests/try-endpoint';
import { usageEndpoints } from './requests/usage-endpoints';
import { webhookEndpoints } from './webhooks/webhook-endpoints';

/** Everything below `/api` that needs a session: tests of isolation, forgery and bad input walk this list. */
export const endpoints: readonly Endpoint[] = [
  ...accountEndpoints,
  ...keyEndpoints,
  propagationEndpoint,
  ...planEndpoints,
  ...usageEndpoints,
  ...statementEndpoints,
  ...explainEndpoints,
  ...requestLogEndpoints,
  ...alertEndpoints,
  ...webhookEndpoints,
  ...tokenEndpoints,
  ...teamEndpoints,
  tryEndpoint,
];
