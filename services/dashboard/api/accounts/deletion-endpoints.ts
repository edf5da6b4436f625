import { askForDeletion } from '../../../../plugins/stores/postgres/customers/account-deletion';
import { askForPersonDeletion } from '../../../../plugins/stores/postgres/customers/person-deletion';
import { deletion, passwordProof } from '../../contract/account';
import { type Route } from '../http/define-endpoint';
import { deletionMail } from '../mail/account-mails';
import { definePersonEndpoint, type Person, type PersonTools } from './person';

/** Deleting the own account; signing in within the grace undoes it, see keep-account.ts. */
export function deletionEndpoints({ mail, url }: Pick<PersonTools, 'mail' | 'url'>): readonly Route<Person>[] {
  const askEndpoint = definePersonEndpoint({
    method: 'POST',
    path: '/account/delete',
    body: passwordProof,
    answer: deletion,
    handler: async ({ caller, body }, { db, log }) => {
      await caller.confirm(body.password);
      const { userId, customerId, actor, email } = caller;
      const isPersonAlone = customerId === undefined;
      const erasedAt = isPersonAlone ? await askForPersonDeletion(db, userId) : await askForDeletion(db, { userId, customerId, actor });
      // The account is stopped whether the mail arrives or not.
      await mail
        .send(deletionMail(email, { erasedAt, signInPage: `${url}/sign-in`, isPersonAlone }, mail.installation))
        .catch((err: unknown) => log.warn({ err }, 'a deletion could not be confirmed by mail'));
      return { erasedAt: erasedAt.toISOString() };
    },
  });
  return [askEndpoint];
}
