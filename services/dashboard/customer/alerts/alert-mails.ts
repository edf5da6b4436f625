import { listMailedAlerts, settleMailedAlerts } from '../../../selling/alerts/mailed-alerts';
import { mailAddress } from '../../../selling/customers/mail-address';
import { type AlertView } from '../../../selling/webhooks/alert-view';
import { type Mail } from '../../http/dashboard-deps';
import { type WriteMails } from '../../mail/start-mails';
import { PLAIN_NAME } from '../../brand/plain-name';
import { alertText } from './alert-text';

/** One mail with all waiting alerts of a customer; the next one follows after an hour at the earliest. */
export const writeAlertMails: WriteMails<'alerts'> = async (item, { db, timeZone, url, name }) => {
  const alerts = await listMailedAlerts(db, item.subject);
  if (alerts.length === 0) return undefined;
  const to = await mailAddress(db, item.subject);
  return { mails: [alertMail({ to, alerts, timeZone, url, name })], settle: () => settleMailedAlerts(db, item, alerts) };
};

/** Keeps only the highest share that each window reached within the hour. */
function withoutOvertaken(alerts: readonly AlertView[]): AlertView[] {
  const isOvertaken = (alert: AlertView): boolean =>
    alert.percent !== null &&
    alerts.some(
      (other) =>
        other.subscriptionId === alert.subscriptionId &&
        other.kind === alert.kind &&
        other.isIncluded === alert.isIncluded &&
        other.period === alert.period &&
        (other.percent ?? 0) > (alert.percent ?? 0),
    );
  return alerts.filter((alert) => !isOvertaken(alert));
}

function subjectOf([first, ...others]: readonly AlertView[], timeZone: string, name: string): string {
  if (!first) return name;
  // The sentence up to its figures.
  const [head = ''] = alertText(first, timeZone).split(/: |\.$/);
  return others.length === 0 ? head : `${others.length + 1} alerts from ${name}`;
}

export interface AlertMailOptions {
  readonly to: string;
  readonly alerts: readonly AlertView[];
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The dashboard's own URL. */
  readonly url: string;
  /** Name of the installation; {@link PLAIN_NAME} unless given. */
  readonly name?: string | undefined;
}

/** All alerts of a customer within an hour, in one mail. */
export function alertMail({ to, alerts, timeZone, url, name = PLAIN_NAME }: AlertMailOptions): Mail {
  const current = withoutOvertaken(alerts);
  const sentences = current.map((alert) => alertText(alert, timeZone)).join('\n\n');
  const farewell = `All alerts, and which of them are mailed to you: ${url}/alerts`;
  return { to, subject: subjectOf(current, timeZone, name), text: `${sentences}\n\n${farewell}\n` };
}
