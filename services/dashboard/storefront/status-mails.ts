import { findFailure, findStatusSubscription } from '../../selling/outages/status-subscriptions';
import { type Failure } from '../../selling/outages/one-failure';
import { PLAIN_NAME } from '../brand/plain-name';
import { isOffered } from '../brand/wording';
import { mailedMoment } from '../customer/alerts/alert-text';
import { type Mail } from '../http/dashboard-deps';
import { type MailTools, type WriteMails } from '../mail/start-mails';
import { type StatusLinks } from './status-links';

interface Subscribed {
  /** The subject: the product's title, or every product of the installation. */
  readonly about: string;
  readonly links: { readonly confirm: string; readonly end: string };
}

/** Mail to a stranger, who may not have asked for it. */
function askedMail({ about, links }: Subscribed, isConfirmed: boolean): Omit<Mail, 'to'> {
  const asked = `Someone asked for an email to this address when ${about} fails, and another when it works again.`;
  if (isConfirmed) {
    return {
      subject: 'You already get mail about outages',
      text: `${asked} You get these mails already, so nothing has changed. To stop them, open: ${links.end}\n`,
    };
  }
  return {
    subject: 'Confirm that you want mail about outages',
    text: `${asked} If that was you, confirm it:\n\n${links.confirm}\n\nThe link works for a day. If it was not you, do nothing.\n`,
  };
}

interface Told extends Pick<MailTools, 'timeZone' | 'url'> {
  readonly title: string;
  /** The page that ends the subscription. */
  readonly end: string;
}

/** Mail that a product fails, or that it works again. */
function failureMail({ beganAt, endedAt }: Pick<Failure, 'beganAt' | 'endedAt'>, { title, end, timeZone, url }: Told): Omit<Mail, 'to'> {
  const since = mailedMoment(beganAt, timeZone);
  const said = endedAt
    ? `${title} failed from ${since} to ${mailedMoment(endedAt, timeZone)}, and has worked since.`
    : `${title} has been failing since ${since}. The next mail comes once it works again.`;
  return {
    subject: `${title} ${endedAt ? 'works again' : 'is failing'}`,
    text: `${said}\n\nAll products: ${url}/status\n\nYou asked for this mail on the status page. To stop it, open: ${end}\n`,
    unsubscribe: end,
  };
}

/**
 * Attempts to send one confirmation mail. Strangers may direct it to addresses that take no mail, and each attempt delays the mails behind
 * it.
 */
const MAX_QUESTIONS = 2;

/** Mails to those who subscribed on the status page. */
export function statusMailsBy(links: StatusLinks): WriteMails<'status'> {
  return async ({ subject, detail, attempts }, { db, catalogue, timeZone, url, name = PLAIN_NAME }) => {
    const subscription = await findStatusSubscription(db, subject);
    if (!subscription) return undefined;
    const { products } = await catalogue();
    const { email: to, product, isConfirmed } = subscription;
    const [news = '', outage = ''] = detail.split(' ');
    if (news === 'asked') {
      if (attempts > MAX_QUESTIONS) return undefined;
      const about = products.find(({ id }) => id === product)?.title ?? `a product of ${name}`;
      const own = { confirm: links.write('confirm', subject), end: links.write('end', subject) };
      return { mails: [{ to, ...askedMail({ about, links: own }, isConfirmed) }] };
    }
    const failure = await findFailure(db, outage);
    // The end of an outage has a mail of its own, and an outage that began again has not ended.
    if (!failure || (news === 'began') !== (failure.endedAt === null) || (news === 'ended' && failure.last !== outage)) return undefined;
    const failing = products.find(({ id }) => id === failure.product);
    if (!failing || !isOffered(failing)) return undefined;
    return { mails: [{ to, ...failureMail(failure, { title: failing.title, end: links.write('end', subject), timeZone, url }) }] };
  };
}
