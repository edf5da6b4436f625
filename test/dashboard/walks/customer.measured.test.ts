import { type Browser, type Locator, type Page } from 'playwright-core';
import { type Pool } from 'pg';
import { PERSONAL_PARTS } from '../../../services/selling/customers/personal-parts';
import { eraseDueAccounts } from '../../../services/selling/members/account-deletion';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { eventually } from '../../support/eventually';
import { closeConnections, type Reply, send } from '../../support/http';
import { expectMeasured } from '../../support/measured';
import { step } from '../../support/step';
import { lastAdmittedAfter } from '../../support/system/revocation';
import { sharedInstance, type SharedInstance } from '../../support/system/shared-instance';
import { openPage, startBrowser, type WatchedPage } from '../support/browser';
import { enterBoth, enterPassword, type Entrant, openMail, press, turnOnSecondFactor } from '../support/entrances';
import { idsOfCustomer, rowsAbout } from '../support/own-rows';
import { erasedAddress, TABLE_PARTS } from '../support/personal-data';

interface InvitationPlan {
  readonly email: string;
  /** As the page names it. */
  readonly role: string;
}

/** An owner, signed in, invites somebody. */
async function invite({ page, dashboard }: Entrant, { email, role }: InvitationPlan): Promise<void> {
  await page.goto(`${dashboard}/team`);
  await press(page, 'Invite somebody');
  await page.getByLabel('Email', { exact: true }).fill(email);
  await page.getByRole('radio', { name: role, exact: true }).check();
  await press(page, 'Send invitation');
  await page.getByRole('table', { name: 'Open invitations' }).getByText(email).waitFor();
}

/** Somebody without an account follows the mail, signs up with the address that is filled in, and accepts. */
async function joinByInvitation(member: Entrant, organisation: string): Promise<void> {
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
async function expectRoleRefused(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByText('Your role in').waitFor();
  expect(await page.getByRole('button', { name: 'Create a key', exact: true }).isDisabled()).toBe(true);
  const refused: unknown = await page.evaluate(`
    fetch('/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      .then(async (answer) => [answer.status, (await answer.json()).code])`);
  expect(refused).toEqual([403, 'role_forbids']);
}

/** An owner takes a member out. */
async function removeMember({ page, dashboard }: Entrant, email: string): Promise<void> {
  await page.goto(`${dashboard}/team`);
  await press(page, `Actions for ${email}`);
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await press(page, 'Remove');
  await page.getByText('Member removed.').waitFor();
}

const OWNER = `asha-${process.pid}-${Date.now()}@example.com`;
const MEMBER = `ravi-${process.pid}-${Date.now()}@example.com`;
const PASSWORD = 'eleven purple rickshaws';
/** The base limit of a day in kong/catalogue.yml, and where alerts begin unless told otherwise. */
const DAILY = 1_000;
const ALERT_SHARE = 0.8;

let instance: SharedInstance;
let db: Pool;
let browser: Browser;
let owner: WatchedPage;
let member: WatchedPage;

beforeAll(async () => {
  [instance, browser] = await Promise.all([sharedInstance(), startBrowser()]);
  db = createPool(instance.databaseUrl, { max: 2 });
  [owner, member] = await Promise.all([openPage(browser), openPage(browser)]);
});
afterAll(async () => {
  await browser?.close();
  closeConnections();
  await db?.end();
});

/** Somebody without an account, on the way to a first call of an own key; what it takes is counted. */
class Newcomer {
  clicks = 0;
  fields = 0;

  constructor(private readonly who: Entrant) {}

  private async click(target: Locator): Promise<void> {
    await target.click();
    this.clicks += 1;
  }

  private async fill(label: string, text: string): Promise<void> {
    await this.who.page.getByLabel(label, { exact: true }).fill(text);
    this.fields += 1;
  }

  async follow(name: string): Promise<void> {
    await this.click(this.who.page.getByRole('link', { name, exact: true }).first());
  }

  /** On a public page, which calls with the key of the installation. @param operation as `GET /ip` */
  async tryInSandbox(operation: string): Promise<void> {
    const form = this.who.page.getByRole('form', { name: `Try ${operation}`, exact: true });
    await this.click(form.getByRole('button', { name: 'Run it here', exact: true }));
    await form.getByText('Status 200 from the sandbox').waitFor();
  }

  /** From a public page to where the mail is waited for. */
  async signUp(): Promise<void> {
    const { page, email, password } = this.who;
    await this.follow('Sign up');
    await this.fill('Email', email);
    await this.fill('Password', password);
    await this.click(page.getByRole('button', { name: 'Create account', exact: true }));
    await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
  }

  /** Follows the link of the mail, in the browser that signed up. @returns the test key that the overview shows */
  async confirmAddress(): Promise<string> {
    const { page } = this.who;
    await openMail(this.who, 'verify');
    this.clicks += 1;
    return page.getByText(/^tg_test_\w+$/).innerText();
  }

  /** Beside the key that is shown. */
  async makeFirstCall(): Promise<void> {
    const { page } = this.who;
    await this.click(page.getByRole('button', { name: 'Run it here', exact: true }));
    await page.getByText('Status 200').waitFor();
  }
}

const go = (page: Page, name: string) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click();
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

const lookUp = (key: string): Promise<Reply> => send(`${instance.gateway}/ip?ip=8.8.8.8`, { headers: { 'X-API-Key': key } });

/** What an answer says is left of the day; NaN where it says nothing. */
const leftOf = ({ headers }: Reply): number => Number(/"daily";r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);

/** Takes 100 units, and asks nobody: these addresses are reserved. @returns what is left of the day */
async function useHundred(key: string): Promise<number> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ ips: Array<string>(100).fill('10.0.0.1') });
  const answer = await send(`${instance.gateway}/ip`, { method: 'POST', headers, body });
  return leftOf(answer);
}

/** The key that a dialog shows once. */
async function takeKey(page: Page, mode: 'live' | 'test'): Promise<string> {
  const key = await page.getByText(new RegExp(`^tg_${mode}_\\w+$`)).innerText();
  await press(page, 'I have copied it');
  return key;
}

/** On the account page, up to the button that does it. */
async function askToDelete({ page, dashboard, password }: Entrant): Promise<void> {
  await page.goto(`${dashboard}/account`);
  await press(page, 'Delete account…');
  await page.getByLabel('Your password').fill(password);
}

/** Deletes the account by its page. @returns milliseconds until no call was let through with this key any more */
async function deleteAccount(entrant: Entrant, key: string): Promise<number> {
  const { page } = entrant;
  await askToDelete(entrant);
  const pressDelete = async (): Promise<void> => {
    const isAnswered = page.waitForResponse((response) => response.url().endsWith('/api/account/delete') && response.ok());
    await confirm(page, 'Delete account');
    await isAnswered;
  };
  const [last = Infinity] = await lastAdmittedAfter({ urls: [`${instance.gateway}/ip?ip=8.8.8.8`], key, revoke: pressDelete });
  await page.getByText('To keep it, sign in before then.').waitFor();
  return last;
}

/** Of the key of a request: whether its counts by the hour have every refusal that the log has. Counts are written less often. */
const IS_COUNTED = `
SELECT (SELECT sum(refused + unavailable - refused_unlogged) FROM key_hour WHERE credential_id = d.credential_id) =
  (SELECT count(*) FROM decision WHERE credential_id = d.credential_id AND outcome <> 'admitted') AS "isCounted"
FROM decision d WHERE request_id = $1`;

/** Until what the gateway has decided so far about a key that it refuses is written down: it comes later than the answers. */
async function untilWritten(key: string): Promise<void> {
  const requestId = (await lookUp(key)).headers['x-kong-request-id'];
  await eventually(async () => (await db.query<{ isCounted: boolean | null }>(IS_COUNTED, [requestId])).rows[0]?.isCounted === true);
}

it('a customer gets from the first page to an own call, a team, a second factor and an alert, and leaves nothing behind', async () => {
  const asha: Entrant = { page: owner.page, dashboard: instance.dashboard, email: OWNER, password: PASSWORD };
  const ravi: Entrant = { page: member.page, dashboard: instance.dashboard, email: MEMBER, password: PASSWORD };
  const { page } = owner;
  const newcomer = new Newcomer(asha);
  let key = '';
  let secret = '';

  await step('reads the reference and tries a call there, without an account', async () => {
    await page.goto(instance.dashboard);
    await newcomer.follow('Read the reference');
    await newcomer.follow('IP lookup');
    await newcomer.tryInSandbox('GET /ip');
    expect([newcomer.clicks, newcomer.fields]).toEqual([3, 0]);
    newcomer.clicks = 0;
  });

  await step('signs up and makes an own call, after four clicks and two fields', async () => {
    await newcomer.signUp();
    key = await newcomer.confirmAddress();
    const back = page.getByRole('link', { name: 'Back to where you signed up' });
    expect(await back.getAttribute('href')).toBe('/reference/api-ip');
    await newcomer.makeFirstCall();
    expect([newcomer.clicks, newcomer.fields]).toEqual([4, 2]);
    await press(page, 'I have copied it');
  });

  await step('is let in by the gateway for that key, and not without it', async () => {
    expect((await lookUp(key)).status).toBe(200);
    const unknown = await lookUp(`${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`);
    expect([unknown.status, unknown.json().code]).toEqual([401, 'key_unknown']);
  });

  await step('invites a second person, who accepts', async () => {
    await invite(asha, { email: MEMBER, role: 'Read-only' });
    await joinByInvitation(ravi, OWNER);
  });

  await step('is not outdone by a role that may only read', () => expectRoleRefused(member.page));

  await step('turns on a second factor, and signs in with it', async () => {
    await page.goto(`${instance.dashboard}/account`);
    await press(page, 'Turn on');
    secret = await turnOnSecondFactor(asha);
    await page.getByText('All other sessions were signed out.').waitFor();
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await enterBoth(asha, secret);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  await step('is told by mail that four fifths of a day are used', async () => {
    await go(page, 'Keys');
    await press(page, 'Create a key');
    await page.getByRole('radio', { name: 'Live' }).check();
    await page.getByRole('checkbox', { name: 'IP lookup' }).check();
    await press(page, 'Create key');
    const live = await takeKey(page, 'live');
    await eventually(async () => (await useHundred(live)) <= DAILY * (1 - ALERT_SHARE));
    await page.goto(`${instance.dashboard}/outbox`);
    const mail = page.getByRole('article', { name: 'IP lookup reached 80% of its daily limit' }).filter({ hasText: `to ${OWNER},` });
    await mail.getByRole('link', { name: `${instance.dashboard}/alerts` }).click();
    await page.getByRole('table').getByText('IP lookup reached 80% of its daily limit').waitFor();
  });

  await step('takes a plan with room for more, which test keys have too', async () => {
    await go(page, 'Plans');
    await press(page, 'Change IP lookup to Star');
    await press(page, 'Go on and pay ₹499.00 a month');
    await press(page, 'Pay');
    await page.getByText('The payment has arrived. IP lookup is on Star now.').waitFor();
    await eventually(async () => leftOf(await lookUp(key)) > DAILY);
  });

  await step('sees the use of a test key on the page within 5 seconds of a call', async () => {
    await go(page, 'Usage');
    const today = page.getByRole('table', { name: 'Limits' }).getByText(/^\d+ today/);
    const before = await today.innerText();
    expect((await lookUp(key)).status).toBe(200);
    const calledAt = performance.now();
    await eventually(async () => (await today.innerText()) !== before);
    expectMeasured(performance.now() - calledAt, 5_000);
  });

  await step('blocks a caller by a rule, which the simulator foretold, and is told why by the page that the refusal names', async () => {
    await go(page, 'Keys');
    await page.getByRole('link', { name: 'First key' }).click();
    await page.getByLabel('One rule per line').fill('203.0.113.0/24');
    await page.getByLabel('IP address').fill('127.0.0.1');
    await press(page, 'Test');
    await page.getByRole('region', { name: 'Whitelist rules' }).getByText('Refused', { exact: true }).waitFor();
    await press(page, 'Save rules');
    await eventually(async () => (await lookUp(key)).status === 401);
    await page.goto(String((await lookUp(key)).json().help));
    await eventually(async () => {
      await page.reload();
      return page.getByText('How to fix it', { exact: true }).isVisible();
    });
    await page.getByText('address 127.0.0.1').waitFor();
    await go(page, 'Keys');
    await page.getByRole('link', { name: 'First key' }).click();
    await page.getByLabel('One rule per line').fill('');
    await press(page, 'Save rules');
    await eventually(async () => (await lookUp(key)).status === 200);
  });

  await step('rotates the key: both work, and the old one names the new', async () => {
    await go(page, 'Keys');
    await page.getByRole('link', { name: 'First key' }).click();
    await press(page, 'Rotate');
    await confirm(page, 'Rotate');
    const next = await takeKey(page, 'test');
    await page.getByText('Replaced by').waitFor();
    await eventually(async () => (await lookUp(next)).status === 200);
    expect((await lookUp(key)).status).toBe(200);
    key = next;
  });

  await step('cannot delete the account while somebody else works in it', async () => {
    await askToDelete(asha);
    await confirm(page, 'Delete account');
    await page.getByRole('dialog').getByRole('alert').getByText('under Team').waitFor();
    await removeMember(asha, MEMBER);
  });

  await step('deletes the account: its keys are refused within a second, and signing in keeps it', async () => {
    expectMeasured(await deleteAccount(asha, key), 1_000);
    await enterBoth(asha, secret);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await eventually(async () => (await lookUp(key)).status === 200);
  });

  await step('deletes it for good: pages are closed, and nothing is left of what the page names', async () => {
    const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
    const session = (): Promise<Reply> => send(`${instance.dashboard}/api/session`, { headers: { cookie } });
    expect((await session()).status).toBe(200);
    await page.goto(`${instance.dashboard}/account`);
    const lists = page.getByRole('region', { name: 'Delete account' }).getByRole('list');
    await lists.last().waitFor();
    expect(await lists.nth(0).getByRole('listitem').count()).toBe(partsThat('erased').length);
    expect(await lists.nth(1).getByRole('listitem').count()).toBe(partsThat('kept').length);
    await deleteAccount(asha, key);
    expect((await session()).status).toBe(401);
    await page.goto(`${instance.dashboard}/keys`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await untilWritten(key);
    await expectErased();
    expect((await lookUp(key)).status).toBe(401);
    await enterPassword(asha);
    await page.getByRole('alert').getByText('password').waitFor();
  });

  expect([owner.complaints, member.complaints]).toEqual([[], []]);
});

/** Their names; the page has a line for each. */
function partsThat(fate: 'erased' | 'kept'): string[] {
  return Object.entries(PERSONAL_PARTS).flatMap(([part, known]) => (known === fate ? [part] : []));
}

/** Lets 15 days pass for the deletion and for mail, and compares what tables hold with what the page says. */
async function expectErased(): Promise<void> {
  const ids = await idsOfCustomer(db, OWNER);
  const [customerId = ''] = ids;
  const tablesOf = (part: string): string[] => Object.keys(TABLE_PARTS).filter((table) => TABLE_PARTS[table] === part);
  const before = await rowsAbout(db, [OWNER, ...ids]);
  // What the walk has made.
  for (const part of ['account', 'keys', 'subscriptions', 'alerts', 'requests']) {
    expect([part, tablesOf(part).some((table) => table in before)]).toEqual([part, true]);
  }
  await db.query("UPDATE account_deletion SET asked_at = asked_at - interval '15 days' WHERE customer_id = $1", [customerId]);
  await db.query("UPDATE outbox_mail SET at = at - interval '15 days' WHERE recipient = ANY ($1)", [[OWNER, MEMBER]]);
  await eraseDueAccounts(db);
  const after = await rowsAbout(db, [OWNER, ...ids]);
  expect(
    partsThat('erased')
      .flatMap(tablesOf)
      .filter((table) => table in after),
  ).toEqual([]);
  expect(await rowsAbout(db, [OWNER])).toEqual({});
  const { rows } = await db.query<{ email: string }>('SELECT email FROM customer WHERE id = $1', [customerId]);
  expect(rows).toEqual([{ email: erasedAddress(customerId) }]);
}
