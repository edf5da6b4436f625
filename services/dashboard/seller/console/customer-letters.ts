import { type Actor } from '../../../selling/customers/write-audit';
import {
  findSuspensionOwner,
  suspendCustomer,
  suspendKey,
  suspendSubscription,
  type SuspensionOwner,
} from '../../../selling/suspensions/suspend';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { PLAIN_NAME } from '../../brand/plain-name';
import { tell } from '../../customer/team/letters';

/** Mails a person how to use the account that an operator made. */
export function inviteCustomer(to: string, deps: DashboardDeps): void {
  const { url, mail } = deps.letters;
  const name = mail.installation ?? PLAIN_NAME;
  const text = `${name} has made an account for this address. To use it, sign up with this address:\n\n${url}/sign-up\n\nIf you did not expect this, do nothing.\n`;
  tell({ to, subject: `Your account at ${name}`, text }, deps);
}

export interface Suspending {
  readonly kind: 'customer' | 'key' | 'subscription';
  readonly id: string;
  /** Reason for the customer to read; null lifts the suspension. */
  readonly reason: string | null;
  readonly actor: Actor;
}

async function apply({ kind, id, reason, actor }: Suspending, { db }: DashboardDeps): Promise<void> {
  const wish = { reason: reason ?? undefined, actor };
  switch (kind) {
    case 'customer':
      return void (await suspendCustomer(db, { customer: id, ...wish }));
    case 'key':
      return void (await suspendKey(db, { id, ...wish }));
    case 'subscription':
      return void (await suspendSubscription(db, { id, ...wish }));
  }
}

/** What is suspended, in a sentence. */
const subjectOf = { customer: () => 'your account', key: (label: string) => `your key ${label}`, subscription: (label: string) => label };

/**
 * Suspends or restores, and mails the customer with an address to contact. A repeated request sends no second mail.
 * @returns the id of the customer
 * @throws OperationRefused `customer_unknown`, `key_unknown`, `subscription_unknown`, `reason_malformed`
 */
export async function suspendAndTell(wish: Suspending, deps: DashboardDeps): Promise<SuspensionOwner | undefined> {
  const { kind, id, reason } = wish;
  const before = await findSuspensionOwner(deps.db, { kind: kind === 'key' ? 'credential' : kind, id });
  await apply(wish, deps);
  if (!before || before.reason === (reason ?? undefined)) return before;
  const { url, support, mail } = deps.letters;
  const name = mail.installation ?? PLAIN_NAME;
  const what = subjectOf[kind](before.label ?? '');
  const contact = support === undefined ? '' : `\n\nIf you have a question, write to ${support}.`;
  const [subject, said] =
    reason === null
      ? [`${name} has restored ${what}`, `${name} has restored ${what}. Requests are admitted again, as far as your own settings allow.`]
      : [
          `${name} has suspended ${what}`,
          `${name} has suspended ${what}. Requests are refused until that is lifted. The reason:\n\n${reason}`,
        ];
  tell({ to: before.email, subject, text: `${said}${contact}\n\n${url}\n` }, deps);
  return before;
}
