import { eventually } from '../../support/eventually';
import { PASSWORD, tokenOf } from './dashboard';
import { type Account, type AccountKind } from './page-accounts';
import { type Scene, type ScenePlace } from './scene-stage';
import { manyKeys } from './seed-keys';
import { totpOf } from './totp';

type Play = NonNullable<Scene['play']>;

const played =
  (as: AccountKind | 'nobody', path: string | ((account: Account) => string)) =>
  (name: string, play: Play): Scene => ({
    name,
    as,
    path: typeof path === 'string' ? () => path : path,
    play,
  });
const firstKey = ({ keys }: Account): string => `/keys/${keys[0]}`;
const onKey = played('usual', firstKey);
const onKeys = played('usual', '/keys');
const onPlans = played('usual', '/plans');
const onTeam = played('usual', '/team');
const onTokens = played('usual', '/tokens');
const onAlerts = played('usual', '/alerts');
const onAccount = played('usual', '/account');
const begun = played('new', '/');

/** An operation after it was tried with the key that is kept for this, with everything open that can be beside the tabs. */
const tried = (name: string, operation: string): Scene =>
  played('usual', `/reference?operation=${operation}`)(`reference-${name}`, async ({ page }) => {
    await page.locator(':target').getByRole('button', { name: 'Run it here' }).click();
    await page.locator('.outcome p').first().waitFor();
    await page.evaluate('document.querySelectorAll("details:not([name])").forEach((each) => { each.open = true; })');
  });

async function beginSecondFactor({ page, button }: ScenePlace, code: (secret: string) => string): Promise<void> {
  await button('Turn on').click();
  await page.getByLabel('Your password').fill(PASSWORD);
  await button('Continue').click();
  const secret = (await page.getByLabel('Secret').innerText()).replace(/\s/g, '');
  await page.getByLabel('Code from the app').fill(code(secret));
  await button('Confirm').click();
}

async function beginCap({ page, button }: ScenePlace, cap: string): Promise<void> {
  await page
    .getByRole('button', { name: /^Change / })
    .first()
    .click();
  await page.getByLabel('Stop at (requests a day)').fill(cap);
  await button('Save').click();
}

/** The link that the mail to somebody holds, of whom no account is there yet. */
async function signUpLink({ dashboard, account }: ScenePlace): Promise<string> {
  const email = `new-${account.invitation}@example.com`;
  await dashboard.ask({ method: 'POST', path: '/api/auth/sign-up/email', body: { email, password: PASSWORD }, from: '192.0.2.9' });
  const mailToThem = () => dashboard.mails.findLast(({ to }) => to === email);
  await eventually(() => mailToThem() !== undefined);
  return `/verify?token=${tokenOf(mailToThem())}`;
}

/** Asks for another address, opens the link that one mail holds, and is led to the link of the other. */
async function confirmFirstLink({ dashboard, account }: ScenePlace): Promise<string> {
  const { cookie } = account;
  const email = `other-${account.email}`;
  const before = dashboard.mails.length;
  await dashboard.ask({ method: 'POST', path: '/api/account/email', cookie, body: { email, password: PASSWORD } });
  await eventually(() => dashboard.mails.length === before + 2);
  const [first, second] = dashboard.mails.slice(before).map(tokenOf);
  await dashboard.ask({ method: 'POST', path: '/api/account/email/confirm', body: { token: first } });
  return `/confirm-email?token=${second}`;
}

/** From now on the API answers 503; the link leads to a page that asks it. */
async function loseServer({ page }: ScenePlace, link: string): Promise<void> {
  const detail = 'The service cannot answer right now. Try again shortly.';
  const json = { title: 'Service not ready', status: 503, code: 'service_not_ready', detail };
  await page.route('**/api/**', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json }));
  await page.getByRole('link', { name: link, exact: true }).click();
  await page.getByText('The server is not responding').waitFor();
}

/** What only shows after a click, a fault or a second person. */
export const SCENES: readonly Scene[] = [
  played('nobody', '/verify')('verify-wrong-password', async (place) => {
    await place.go(await signUpLink(place));
    await place.page.getByLabel('Password', { exact: true }).fill('wrong password');
    await place.button('Confirm and sign in').click();
    await place.page.getByRole('alert').waitFor();
  }),
  played('nobody', '/verify?token=too-old')('verify-too-late', async ({ page, button }) => {
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await button('Confirm and sign in').click();
    await page.getByLabel('Email').fill('asha@example.com');
    await button('Send a new link').click();
    await page.getByText('an email is on its way').waitFor();
  }),
  played('nobody', '/sign-in')('outbox-empty', async ({ page, go }) => {
    await page.route('**/api/outbox', (route) => route.fulfill({ json: { mails: [] } }));
    await go('/outbox');
  }),
  onTeam('invite', async ({ page, button }) => {
    await button('Invite somebody').click();
    await page.getByRole('radio', { name: 'Developer' }).waitFor();
  }),
  onTeam('rename-organisation', async ({ page, button }) => {
    await button('Rename').click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
  }),
  onAccount('add-passkey', async ({ page, button }) => {
    await button('Add a passkey').click();
    await page.getByRole('dialog').getByLabel('Your password').waitFor();
  }),
  onAccount('remove-passkey', async ({ page, button }) => {
    await button('Remove Laptop').click();
    await page.getByRole('dialog').waitFor();
  }),
  played('reader', firstKey)('keys-read-only', async ({ page }) => {
    await page.getByText('Your role in').waitFor();
  }),
  begun('create-key', async ({ page, button }) => {
    await button('Create a test key').click();
    await page.getByLabel('IP lookup').waitFor();
  }),
  begun('created-key', async ({ page, button }) => {
    await button('Create a test key').click();
    await page.getByLabel('IP lookup').waitFor();
    await button('Create key').click();
    await page.getByText('First call', { exact: true }).waitFor();
  }),
  onKey('revoke-key', async ({ button }) => {
    await button('Revoke').click();
    await button('Revoke permanently').waitFor();
  }),
  onKeys('revoke-keys', async ({ page, button }) => {
    await page.getByLabel('Select all on this page').check();
    await page.getByLabel('Select Checkout server tg_live…1a2B').uncheck();
    await button('Revoke 6 keys').click();
    await button('Revoke 6 keys permanently').waitFor();
  }),
  onKey('rotate-key', async ({ page, button }) => {
    await button('Rotate').click();
    await page.getByRole('dialog').waitFor();
  }),
  onKey('key-conflict', async ({ page, button, dashboard, account }) => {
    await page.getByLabel('Name', { exact: true }).fill('Checkout, new name');
    await dashboard.pool.query("UPDATE credential SET name = 'Renamed by a colleague' WHERE id = $1", [account.keys[0]]);
    await button('Save settings').click();
    await button('Keep my edits').waitFor();
  }),
  onKey('simulated-caller', async ({ page, button }) => {
    await page.getByLabel('IP address').fill('203.0.113.7');
    await button('Test').click();
    await page.getByText('Allowed', { exact: true }).waitFor();
  }),
  onPlans('plan-choice', async ({ page, button }) => {
    await button('Change Pincode to Star').click();
    await page.getByRole('dialog').getByText('Counts from the next request.').waitFor();
  }),
  onPlans('plan-request', async ({ page, button }) => {
    await button('Request Star of Glead').click();
    await page.getByRole('dialog').getByText('The seller answers your request').waitFor();
  }),
  onPlans('plan-below-use', async ({ button }) => {
    await button('Change IP lookup to Free').click();
    await button('Change to Free').click();
    await button('Change to Free anyway').waitFor();
  }),
  {
    ...played('new', '/keys')('many-keys', async ({ page, button }) => {
      await button('Next').click();
      await page.getByText('Page 2').waitFor();
    }),
    keys: manyKeys(60),
  },
  onKeys('server-away', (place) => loseServer(place, 'Checkout server')),
  played('operator', '/operator')('seller-server-away', (place) => loseServer(place, 'Customers')),
  played('nobody', '/products')('page-failed', async ({ page, dashboard, go }) => {
    await dashboard.pool.query('ALTER TABLE catalogue_revision RENAME TO elsewhere');
    await go('/products/api-ip').finally(() => dashboard.pool.query('ALTER TABLE elsewhere RENAME TO catalogue_revision'));
    await page.getByText('Something went wrong').waitFor();
  }),
  played('usual', '/usage?days=7')('usage-figures', async ({ page }) => {
    await page.getByText('Requests used as a table').click();
  }),
  tried('answered', 'get_ip'),
  tried('captcha', 'get_gst_start'),
  tried('picture', 'get_gdplay_thumbnail'),
  tried('bytes', 'get_gdplay_stream'),
  tried('refused', 'get_seo'),
  played('usual', '/reference?operation=get_seo')('reference-without-answer', async ({ page }) => {
    await page.route('**/api/try', (route) => route.fulfill({ json: { outcome: 'failed', reason: 'timeout', durationMs: 60_004 } }));
    await page.locator(':target').getByRole('button', { name: 'Run it here' }).click();
    await page.getByText('No complete response in time.').waitFor();
  }),
  played('usual', '/reference?operation=post_glead_search')('reference-not-sent', async ({ page }) => {
    await page.getByLabel('Test key').fill('tg_live_never');
    await page.locator(':target').getByRole('button', { name: 'Run it here' }).click();
    await page.getByText('This is a live key.').waitFor();
  }),
  onAccount('second-factor-scan', async (place) => {
    await beginSecondFactor(place, () => '000000');
    await place.page.getByRole('alert').waitFor();
  }),
  onAccount('second-factor-codes', async (place) => {
    await beginSecondFactor(place, totpOf);
    await place.button('I have saved them').waitFor();
  }),
  onAccount('account-with-second-factor', async (place) => {
    await beginSecondFactor(place, totpOf);
    await place.button('I have saved them').click();
    await place.button('Turn off').waitFor();
  }),
  onAccount('delete-account', async ({ page, button }) => {
    await button('Delete account…').click();
    await page.getByLabel('Your password').waitFor();
  }),
  onAccount('email-change-asked', async ({ page, button, account }) => {
    await page.getByLabel('New email address').fill(`new-${account.email}`);
    await page.getByLabel('Account password').fill(PASSWORD);
    await button('Change email address').click();
    await page.getByText('Open both within an hour').waitFor();
  }),
  onAccount('email-change-confirmed', async (place) => {
    await place.go(await confirmFirstLink(place));
    await place.button('Confirm').click();
    await place.page.getByText('Go to the dashboard').waitFor();
  }),
  { ...onAlerts('menu', ({ button }) => button('Open the menu').click()), viewport: { width: 360, height: 740 } },
  played('new', '/tokens')('created-token', async ({ page, button }) => {
    await button('Create a token').first().click();
    await page.getByLabel('Name', { exact: true }).fill('Deploy script');
    await page.getByLabel('keys:read').check();
    await button('Create token').click();
    await page.getByText('First request', { exact: true }).waitFor();
  }),
  onTokens('create-token', async ({ page, button }) => {
    await button('Create a token').click();
    await button('Create token').click();
    await page.getByText('Choose at least one scope.').waitFor();
  }),
  onTokens('revoke-token', async ({ page, button }) => {
    await button('Revoke Deploy script').click();
    await button('Revoke').click();
    await page.getByText('Token revoked.').waitFor();
  }),
  onAlerts('alert-thresholds', async (place) => {
    await beginCap(place, 'five');
    await place.page.getByText('Enter a whole number of requests').waitFor();
  }),
  onAlerts('alert-capped', async (place) => {
    await beginCap(place, '1,500');
    await place.page.getByText('1,500 requests a day').waitFor();
  }),
];
