import { type OperatorEndpoint } from './define-operator-endpoint';
import { sessionEndpoint } from './session-endpoint';

/** Everything below `/api/operator`: the walk of isolation asks each with everybody else's session. */
export const operatorEndpoints: readonly OperatorEndpoint[] = [sessionEndpoint];
