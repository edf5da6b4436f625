import { type PlanRequestView } from '../../../selling/subscriptions/plan-request-view';
import { type Mail } from '../../http/dashboard-deps';
import { countedBy, formatCount } from '../../brand/wording';

/** Tells a customer how its request for a plan was answered. @param plansPage where to look */
export function answerMail(request: PlanRequestView, plansPage: string): Mail {
  const { customer: to, title, plan, daily, monthly, price, currency, overage, state, reason } = request;
  const counted = countedBy(request.countsUnits);
  const above = overage ? ` Above that, ${formatCount(overage.per)} ${counted} cost ${currency} ${overage.price}.` : '';
  if (state === 'approved') {
    return {
      to,
      subject: `You are on ${plan} of ${title}`,
      text: `Your request for the plan ${plan} of ${title} was approved. From now on you have ${formatCount(daily)} ${counted} a day and ${formatCount(monthly)} a month, for ${currency} ${price} a month.${above}\n\n${plansPage}\n`,
    };
  }
  return {
    to,
    subject: `Your request for ${plan} of ${title}`,
    text: `Your request for the plan ${plan} of ${title} was declined:\n\n${reason}\n\nNothing has changed about your subscriptions.\n\n${plansPage}\n`,
  };
}
