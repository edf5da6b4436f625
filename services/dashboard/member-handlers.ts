import { auditHandlers, sessionHandlers } from './sign-in/session-handlers';
import { alertHandlers } from './customer/alerts/alert-handlers';
import { billingHandlers } from './billing/billing-handlers';
import { paymentListHandlers } from './billing/seller-payments';
import { keyHandlers } from './customer/keys/key-handlers';
import { tokenHandlers } from './customer/management/token-handlers';
import { outageHandlers } from './customer/alerts/outage-handlers';
import { planHandlers } from './customer/plans/plan-handlers';
import { statementHandlers } from './customer/plans/statement-handlers';
import { explainHandlers } from './customer/requests/explain-handlers';
import { requestLogHandlers } from './customer/requests/request-log-handlers';
import { tryHandlers } from './customer/requests/try-handlers';
import { usageHandlers } from './customer/requests/usage-handlers';
import { teamHandlers } from './customer/team/team-handlers';
import { webhookHandlers } from './customer/webhooks/webhook-handlers';
import { type MemberHandlers } from './http/bind-endpoint';

/** Handlers for members of a customer. The compiler reports a missing one. */
export const memberHandlers: MemberHandlers = {
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
