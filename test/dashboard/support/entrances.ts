import { type Page } from 'playwright-core';
import { unusedTotpOf } from './totp';

/** Whoever signs in, and where. */
export interface Entrant {
  readonly page: Page;
  /** Base URL of the dashboard. */
  readonly dashboard: string;
  readonly email: string;
  readonly password: string;
}

/** Presses the button of that name, in whole. */
export const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

/** Opens the link of the mail to this person whose path this is, as a click in the mail does. */
export async function openMail({ page, dashboard, email }: Entrant, path: string): Promise<void> {
  await page.goto(`${dashboard}/outbox`);
  const mail = page.getByRole('article').filter({ hasText: `to ${email},` });
  const link = await mail.getByRole('link', { name: new RegExp(`/${path}\\?token=`) }).getAttribute('href');
  await page.goto(link ?? '');
}

/** Signs a customer up as a reader would, with the link of the outbox; ends on the overview. */
export async function signUp({ page, dashboard, email, password }: Entrant): Promise<void> {
  await page.goto(`${dashboard}/sign-up`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Create account');
  await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  await openMail({ page, dashboard, email, password }, 'verify');
  await page.getByText(/(Two|Three) steps to your first response/).waitFor();
}

/** An operator's first password, by the link that the command line printed. */
export async function setFirstPassword({ page, password }: Entrant, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('New password').fill(password);
  await press(page, 'Set password');
  await page.getByText('Sign in with your new password').waitFor();
}

/** On the page of signing in. */
export async function enterPassword({ page, email, password }: Entrant): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await press(page, 'Sign in');
}

/** Where the password is asked for, so that a second factor may be turned on. @returns the secret, in base32 */
export async function turnOnSecondFactor({ page, password }: Entrant): Promise<string> {
  await page.getByLabel('Your password').fill(password);
  await press(page, 'Continue');
  const secret = (await page.getByLabel('Secret').innerText()).replace(/\s/g, '');
  await page.getByLabel('Code from the app').fill(await unusedTotpOf(secret));
  await press(page, 'Confirm');
  await press(page, 'Copy codes');
  await press(page, 'I have saved them');
  return secret;
}

/** On the page that sets up the second factor; ends in the console. @returns the secret, in base32 */
export async function setUpSecondFactor(entrant: Entrant): Promise<string> {
  const secret = await turnOnSecondFactor(entrant);
  await entrant.page.getByRole('heading', { name: 'Home' }).waitFor();
  return secret;
}

/** On the page of signing in, with a second factor. */
export async function enterBoth(entrant: Entrant, secret: string): Promise<void> {
  await enterPassword(entrant);
  await entrant.page.getByLabel('Code').fill(await unusedTotpOf(secret));
  await press(entrant.page, 'Sign in');
}

/** In the console: out, and in again with password and code. */
export async function signInAgain(entrant: Entrant, secret: string): Promise<void> {
  const { page, dashboard } = entrant;
  await press(page, 'Sign out');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // Where a page of the console leads now.
  await page.goto(`${dashboard}/operator/customers`);
  await enterBoth(entrant, secret);
  await page.getByRole('heading', { name: 'Customers' }).waitFor();
}
