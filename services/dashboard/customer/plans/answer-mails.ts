import { mailAddress } from '../../../selling/customers/mail-address';
import { type PlanRequestView, viewPlanRequest } from '../../../selling/subscriptions/plan-request-view';
import { type Mail } from '../../http/dashboard-deps';
import { type WriteMails } from '../../mail/start-mails';
import { countedBy, formatCount } from '../../brand/wording';

/** Mails a customer the seller's answer to its plan request. */
export const writeAnswerMails: WriteMails<'plan_answer'> = async ({ subject: id }, { db, url }) => {
  const request = await viewPlanRequest(db, { id });
  const to = await mailAddress(db, request.customerId);
  return { mails: [{ to, ...answerMail(request, `${url}/plans`) }] };
};

function answerMail(request: PlanRequestView, plansPage: string): Omit<Mail, 'to'> {
  const { title, plan, daily, monthly, price, currency, overage, state, reason } = request;
  const counted = countedBy(request.countsUnits);
  const above = overage ? ` Above that, ${formatCount(overage.per)} ${counted} cost ${currency} ${overage.price}.` : '';
  if (state === 'approved') {
    return {
      subject: `You are on ${plan} of ${title}`,
      text: `Your request for the plan ${plan} of ${title} was approved. From now on you have ${formatCount(daily)} ${counted} a day and ${formatCount(monthly)} a month, for ${currency} ${price} a month.${above}\n\n${plansPage}\n`,
    };
  }
  return {
    subject: `Your request for ${plan} of ${title}`,
    text: `Your request for the plan ${plan} of ${title} was declined:\n\n${reason}\n\nNothing has changed about your subscriptions.\n\n${plansPage}\n`,
  };
}
