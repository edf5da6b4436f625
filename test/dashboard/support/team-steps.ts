import { type Page } from 'playwright-core';
import { type Entrant, openMail, press } from './entrances';

export interface InvitationPlan {
  readonly email: string;
  /** As the page names it. */
  readonly role: string;
}

/** An owner, signed in, invites somebody. */
export async function invite({ page, dashboard }: Entrant, { email, role }: InvitationPlan): Promise<void> {
  await page.goto(`${dashboard}/team`);
  await press(page, 'Invite somebody');
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByRole('radio', { name: role, exact: true }).check();
  await press(page, 'Send invitation');
  await page.getByRole('table', { name: 'Open invitations' }).getByText(email).waitFor();
}

/** Somebody without an account follows the mail, signs up with the address that is filled in, and accepts. */
export async function joinByInvitation(member: Entrant, organisation: string): Promise<void> {
  const { page, email, password } = member;
  await openMail(member, 'invitation');
  await page.getByRole('heading', { name: `Join ${organisation}` }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: 'Create an account' }).waitFor();
  expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Create account');
  await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  await openMail(member, 'verify');
  await press(page, 'Accept');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** A read-only member is shown the keys of the organisation, with no way to change them, and refused one by the API. */
export async function expectRoleRefused(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByText('Your role in').waitFor();
  expect(await page.getByRole('button', { name: 'Create a key', exact: true }).isDisabled()).toBe(true);
  const refused: unknown = await page.evaluate(`
    fetch('/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      .then(async (answer) => [answer.status, (await answer.json()).code])`);
  expect(refused).toEqual([403, 'role_forbids']);
}

/** An owner takes a member out. */
export async function removeMember({ page, dashboard }: Entrant, email: string): Promise<void> {
  await page.goto(`${dashboard}/team`);
  await press(page, `Actions for ${email}`);
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await press(page, 'Remove');
  await page.getByText('Member removed.').waitFor();
}
