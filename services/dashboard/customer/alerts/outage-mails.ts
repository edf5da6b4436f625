import { findMailedOutage, type OutageView } from '../../../selling/outages/list-outages';
import { type Mail } from '../../http/dashboard-deps';
import { type MailTools, type WriteMails } from '../../mail/start-mails';
import { mailedMoment } from './alert-text';

const count = (requests: number): string => requests.toLocaleString('en-US');

/** Mails to all operators about products that fail, or that work again. */
export const writeOutageMails: WriteMails<'outage'> = async ({ subject, detail }, tools) => {
  const outage = await findMailedOutage(tools.db, subject);
  // The outage has ended meanwhile, and its end has a mail of its own.
  if (!outage || (detail === 'began' && outage.endedAt !== null)) return undefined;
  return { mails: outage.to.map((to) => ({ to, ...outageMail(outage, tools) })) };
};

function outageMail(outage: OutageView, { timeZone, url }: MailTools): Omit<Mail, 'to'> {
  const { product, title, beganAt, endedAt, answered, failed } = outage;
  const since = mailedMoment(beganAt, timeZone);
  const figures = `${count(failed)} of ${count(answered)} answers had a status of 500 to 599`;
  const page = `${url}/operator/requests?product=${product}&status=5xx`;
  if (endedAt === null) {
    return {
      subject: `${title} is failing`,
      text: `${title} (${product}) has been failing since ${since}: ${figures}.\n\nThe failed requests: ${page}\n`,
    };
  }
  return {
    subject: `${title} has recovered`,
    text: `${title} (${product}) was failing from ${since} to ${mailedMoment(endedAt, timeZone)}: ${figures} in that time.\n\nThe failed requests: ${page}\n`,
  };
}
