import { actEndpoints } from './act-endpoints';
import { auditEndpoints } from './audit-endpoints';
import { customerEndpoints } from './customer-endpoints';
import { type OperatorEndpoint } from './define-operator-endpoint';
import { installationEndpoints } from './installation-endpoints';
import { planRequestEndpoints } from './plan-request-endpoints';
import { requestEndpoints } from './request-endpoints';
import { sessionEndpoint } from './session-endpoint';

/** Everything below `/api/operator`: the walk of isolation asks each with everybody else's session. */
export const operatorEndpoints: readonly OperatorEndpoint[] = [
  sessionEndpoint,
  ...customerEndpoints,
  ...actEndpoints,
  ...planRequestEndpoints,
  ...requestEndpoints,
  ...auditEndpoints,
  ...installationEndpoints,
];
