import { type OutageView } from '../../../selling/outages/list-outages';
import { type Mail } from '../../http/dashboard-deps';
import { mailedMoment } from './alert-text';

export interface OutageMailOptions {
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The dashboard's own URL. */
  readonly url: string;
}

const count = (requests: number): string => requests.toLocaleString('en-US');

/** Tells an operator that a product fails, or that this is over. */
export function outageMail(outage: OutageView, { timeZone, url }: OutageMailOptions): Omit<Mail, 'to'> {
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
