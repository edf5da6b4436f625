import { type Page } from 'playwright-core';
import { settle } from './browser';
import { manyKeys, OTHER_ORGANISATION } from './fake-data';
import { type FakeApi } from './fake-api';
import { FakeState } from './fake-state';

/** A state of a page that is reached by doing something. */
export interface Scene {
  readonly name: string;
  readonly state: () => FakeState;
  readonly play: (page: Page, api: FakeApi) => Promise<void>;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

async function go(page: Page, api: FakeApi, path: string): Promise<void> {
  await page.goto(api.url + path);
  await settle(page);
}

const firstKey = (api: FakeApi): string => `/keys/${api.state.keys[0]?.id}`;

function signedOut(): FakeState {
  return Object.assign(new FakeState(), { isSignedIn: false });
}

/** What only shows after a click, a fault or a second person. */
export const SCENES: readonly Scene[] = [
  {
    name: 'verify-wrong-password',
    state: signedOut,
    play: async (page, api) => {
      await go(page, api, '/verify?token=not-a-real-one');
      await page.getByLabel('Password', { exact: true }).fill('wrong password');
      await button(page, 'Confirm and sign in').click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'verify-too-late',
    state: signedOut,
    play: async (page, api) => {
      await go(page, api, '/verify?token=too-old');
      await page.getByLabel('Password', { exact: true }).fill('a long password');
      await button(page, 'Confirm and sign in').click();
      await page.getByLabel('Email').fill('asha@example.com');
      await button(page, 'Send a new link').click();
      await page.getByText('an email is on its way').waitFor();
    },
  },
  {
    name: 'invite',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/team');
      await button(page, 'Invite somebody').click();
      await page.getByRole('radio', { name: 'Developer' }).waitFor();
    },
  },
  {
    name: 'rename-organisation',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/team');
      await button(page, 'Rename').click();
      await page.getByRole('dialog').getByLabel('Name').waitFor();
    },
  },
  {
    name: 'add-passkey',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await button(page, 'Add a passkey').click();
      await page.getByRole('dialog').getByLabel('Your password').waitFor();
    },
  },
  {
    name: 'remove-passkey',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await button(page, 'Remove Laptop').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'keys-read-only',
    state: () => Object.assign(new FakeState(), { organisation: { ...OTHER_ORGANISATION, role: 'reader' } }),
    play: async (page, api) => {
      await go(page, api, firstKey(api));
      await page.getByText('Your role in').waitFor();
    },
  },
  {
    name: 'create-key',
    state: () => FakeState.empty(),
    play: async (page, api) => {
      await go(page, api, '/');
      await button(page, 'Create a test key').click();
      await page.getByLabel('IP lookup').waitFor();
    },
  },
  {
    name: 'created-key',
    state: () => FakeState.empty(),
    play: async (page, api) => {
      await go(page, api, '/');
      await button(page, 'Create a test key').click();
      await page.getByLabel('IP lookup').waitFor();
      await button(page, 'Create key').click();
      await page.getByText('First call', { exact: true }).waitFor();
    },
  },
  {
    name: 'revoke-key',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, firstKey(api));
      await button(page, 'Revoke').click();
      await button(page, 'Revoke permanently').waitFor();
    },
  },
  {
    name: 'revoke-keys',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/keys');
      await page.getByLabel('Select all on this page').check();
      await page.getByLabel('Select Checkout server tg_live…1a2B').uncheck();
      await button(page, 'Revoke 6 keys').click();
      await button(page, 'Revoke 6 keys permanently').waitFor();
    },
  },
  {
    name: 'rotate-key',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, firstKey(api));
      await button(page, 'Rotate').click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'key-conflict',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, firstKey(api));
      await page.getByLabel('Name', { exact: true }).fill('Checkout, new name');
      const id = api.state.keys[0]?.id ?? '';
      api.state.changeKey(id, { name: 'Renamed by a colleague', products: ['api-ip', 'api-seo'] });
      await button(page, 'Save settings').click();
      await button(page, 'Keep my edits').waitFor();
    },
  },
  {
    name: 'simulated-caller',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, firstKey(api));
      await page.getByLabel('IP address').fill('203.0.113.7');
      await button(page, 'Test').click();
      await page.getByText('Allowed', { exact: true }).waitFor();
    },
  },
  {
    name: 'plan-choice',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/plans');
      await button(page, 'Change Pincode to Star').click();
      await page.getByRole('dialog').getByText('Counts from the next request.').waitFor();
    },
  },
  {
    name: 'plan-request',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/plans');
      await button(page, 'Request Star of Glead').click();
      await page.getByRole('dialog').getByText('The provider answers your request').waitFor();
    },
  },
  {
    name: 'plan-below-use',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/plans');
      await button(page, 'Change IP lookup to Base').click();
      await button(page, 'Change to Base for free').click();
      await button(page, 'Change to Base for free anyway').waitFor();
    },
  },
  {
    name: 'many-keys',
    state: () => Object.assign(new FakeState(), { keys: manyKeys(10_000) }),
    play: async (page, api) => {
      await go(page, api, '/keys');
      await button(page, 'Next').click();
      await page.getByText('Page 2').waitFor();
    },
  },
  {
    name: 'server-away',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/keys');
      api.state.isAway = true;
      await page.getByRole('link', { name: 'Checkout server' }).click();
      await page.getByText('The server is not responding').waitFor();
    },
  },
  {
    name: 'usage-figures',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/usage?days=7');
      await page.getByText('Requests used as a table').click();
    },
  },
  {
    name: 'second-factor-scan',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await button(page, 'Turn on').click();
      await page.getByLabel('Your password').fill('a long password');
      await button(page, 'Continue').click();
      await page.getByLabel('Code from the app').fill('000000');
      await button(page, 'Confirm').click();
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'second-factor-codes',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await button(page, 'Turn on').click();
      await page.getByLabel('Your password').fill('a long password');
      await button(page, 'Continue').click();
      await page.getByLabel('Code from the app').fill('123456');
      await button(page, 'Confirm').click();
      await button(page, 'I have saved them').waitFor();
    },
  },
  {
    name: 'account-with-second-factor',
    state: () => Object.assign(new FakeState(), { hasSecondFactor: true }),
    play: (page, api) => go(page, api, '/account'),
  },
  {
    name: 'delete-account',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await button(page, 'Delete account…').click();
      await page.getByLabel('Your password').waitFor();
    },
  },
  {
    name: 'email-change-asked',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/account');
      await page.getByLabel('New email address').fill('asha.new@example.com');
      await page.getByLabel('Account password').fill('a long password');
      await button(page, 'Change email address').click();
      await page.getByText('Open both within an hour').waitFor();
    },
  },
  {
    name: 'email-change-confirmed',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/confirm-email?token=second');
      await button(page, 'Confirm').click();
      await page.getByText('Go to the dashboard').waitFor();
    },
  },
  {
    name: 'account-deleted',
    state: () => new FakeState(),
    play: (page, api) => go(page, api, '/sign-in?reason=deleted'),
  },
  {
    name: 'menu',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/alerts');
      const burger = button(page, 'Open the menu');
      if (await burger.isVisible()) await burger.click();
    },
  },
  {
    name: 'created-token',
    state: () => FakeState.empty(),
    play: async (page, api) => {
      await go(page, api, '/tokens');
      await button(page, 'Create a token').first().click();
      await page.getByLabel('Name', { exact: true }).fill('Deploy script');
      await page.getByLabel('keys:read').check();
      await button(page, 'Create token').click();
      await page.getByText('First request', { exact: true }).waitFor();
    },
  },
  {
    name: 'create-token',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/tokens');
      await button(page, 'Create a token').click();
      await button(page, 'Create token').click();
      await page.getByText('Choose at least one scope.').waitFor();
    },
  },
  {
    name: 'revoke-token',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/tokens');
      await button(page, 'Revoke Deploy script').click();
      await button(page, 'Revoke').click();
      await page.getByText('Token revoked.').waitFor();
    },
  },
  {
    name: 'alert-thresholds',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/alerts');
      await page
        .getByRole('button', { name: /^Change / })
        .first()
        .click();
      await page.getByLabel('Stop at (requests a day)').fill('five');
      await button(page, 'Save').click();
      await page.getByText('Enter a whole number of requests').waitFor();
    },
  },
  {
    name: 'alert-capped',
    state: () => new FakeState(),
    play: async (page, api) => {
      await go(page, api, '/alerts');
      await page
        .getByRole('button', { name: /^Change / })
        .first()
        .click();
      await page.getByLabel('Stop at (requests a day)').fill('1,500');
      await button(page, 'Save').click();
      await page.getByText('1,500 requests a day').waitFor();
    },
  },
];
