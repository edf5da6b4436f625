import { auditHandlers, sessionHandlers } from './accounts/session-handlers';
import { alertHandlers } from './alerts/alert-handlers';
import { billingHandlers } from './billing/billing-handlers';
import { paymentListHandlers } from './billing/seller-payments';
import { keyHandlers } from './keys/key-handlers';
import { tokenHandlers } from './management/token-handlers';
import { outageHandlers } from './alerts/outage-handlers';
import { planHandlers } from './plans/plan-handlers';
import { statementHandlers } from './plans/statement-handlers';
import { explainHandlers } from './requests/explain-handlers';
import { requestLogHandlers } from './requests/request-log-handlers';
import { tryHandlers } from './requests/try-handlers';
import { usageHandlers } from './requests/usage-handlers';
import { teamHandlers } from './team/team-handlers';
import { webhookHandlers } from './webhooks/webhook-handlers';
import { type Handlers } from './http/bind-endpoint';
import { type EndpointsFor } from '../contract/endpoints';

/** For members of a customer: the compiler misses one that the contract has. */
export const memberHandlers: Handlers<EndpointsFor<'members'>> = {
  ...sessionHandlers,
  ...auditHandlers,
  ...keyHandlers,
  ...planHandlers,
  ...usageHandlers,
  ...statementHandlers,
  ...billingHandlers,
  ...paymentListHandlers,
  ...explainHandlers,
  ...requestLogHandlers,
  ...outageHandlers,
  ...alertHandlers,
  ...webhookHandlers,
  ...tokenHandlers,
  ...teamHandlers,
  ...tryHandlers,
};
