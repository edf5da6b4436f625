import { type Browser, type Page } from 'playwright-core';
import { step } from '../support/step';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { openPage, startBrowser } from './support/browser';

const OWNER = `owner-${process.pid}-${Date.now()}@example.com`;
const MEMBER = `member-${process.pid}-${Date.now()}@example.com`;
const PASSWORD = 'a team’s own words 41';

let instance: RunningInstance;
let browser: Browser;
let owner: Page;
let member: Page;
const complaints: string[] = [];

async function person(): Promise<Page> {
  const opened = await openPage(browser);
  opened.page.on('close', () => complaints.push(...opened.complaints));
  return opened.page;
}

beforeAll(async () => {
  [instance, browser] = await Promise.all([startInstance(), startBrowser()]);
  [owner, member] = await Promise.all([person(), person()]);
});
afterAll(async () => {
  await Promise.all([owner?.close(), member?.close()]);
  await browser?.close();
  await instance?.stop();
  expect(complaints).toEqual([]);
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens the link of a mail, as a click in it does. */
async function openMail(page: Page, to: string, path: string): Promise<void> {
  await page.goto(`${instance.dashboard}/outbox`);
  const mail = page.getByRole('article').filter({ hasText: to });
  const link = await mail.getByRole('link', { name: new RegExp(`/${path}\\?token=`) }).getAttribute('href');
  await page.goto(link ?? '');
}

async function signUp(page: Page): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await button(page, 'Create account').click();
  await page.getByRole('heading', { name: 'Confirm your email address' }).waitFor();
}

test('a second person joins by an invitation, does what the role allows, and is out once removed', async () => {
  await step('an owner signs up and invites somebody as a read-only member', async () => {
    await owner.goto(`${instance.dashboard}/sign-up`);
    await owner.getByLabel('Email', { exact: true }).fill(OWNER);
    await signUp(owner);
    await openMail(owner, OWNER, 'verify');
    await owner.getByText(/^tg_test_\w+$/).waitFor();
    await owner.goto(`${instance.dashboard}/team`);
    await button(owner, 'Invite somebody').click();
    await owner.getByLabel('Email', { exact: true }).fill(MEMBER);
    await owner.getByRole('radio', { name: 'Read-only' }).check();
    await button(owner, 'Send invitation').click();
    await owner.getByRole('table', { name: 'Open invitations' }).getByText(MEMBER).waitFor();
  });

  await step('the invited person signs up, with the address filled in, and comes back to the invitation', async () => {
    await openMail(member, MEMBER, 'invitation');
    await member.getByRole('heading', { name: `Join ${OWNER}` }).waitFor();
    expect(new URL(member.url()).search).toBe('');
    await member.getByRole('link', { name: 'Create an account' }).click();
    await member.getByRole('heading', { name: 'Create an account' }).waitFor();
    expect(await member.getByLabel('Email', { exact: true }).inputValue()).toBe(MEMBER);
    await signUp(member);
    await openMail(member, MEMBER, 'verify');
    await button(member, 'Accept').click();
    await member.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  await step('the member sees the keys of the organisation, and can change nothing', async () => {
    const chosen = member.getByLabel('Organisation');
    expect(await chosen.locator('option:checked').innerText()).toBe(`${OWNER} (Read-only)`);
    await member.getByRole('link', { name: 'Keys', exact: true }).click();
    await member.getByText('Your role in').waitFor();
    expect(await button(member, 'Create a key').isDisabled()).toBe(true);
    const refused: unknown = await member.evaluate(`
      fetch('/api/keys', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
        .then(async (answer) => [answer.status, (await answer.json()).code])`);
    expect(refused).toEqual([403, 'role_forbids']);
  });

  await step('the owner makes the member a developer, who may create keys then', async () => {
    await owner.reload();
    await button(owner, `Actions for ${MEMBER}`).click();
    await owner.getByRole('menuitem', { name: 'Change role' }).click();
    await owner.getByRole('radio', { name: 'Developer' }).check();
    await button(owner, 'Change role').click();
    await owner.getByRole('row').filter({ hasText: MEMBER }).getByText('Developer').waitFor();
    await member.reload();
    await member.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(await button(member, 'Create a key').isEnabled()).toBe(true);
  });

  await step('the member switches to the own organisation and back', async () => {
    await member.getByLabel('Organisation').selectOption({ label: `${MEMBER} (Owner)` });
    await member.locator('option:checked', { hasText: `${MEMBER} (Owner)` }).waitFor({ state: 'attached' });
    await member.getByRole('heading', { name: 'Overview' }).waitFor();
    await member.getByLabel('Organisation').selectOption({ label: `${OWNER} (Developer)` });
    await member.locator('option:checked', { hasText: `${OWNER} (Developer)` }).waitFor({ state: 'attached' });
  });

  await step('the owner removes the member, whose next page is of the own organisation', async () => {
    await button(owner, `Actions for ${MEMBER}`).click();
    await owner.getByRole('menuitem', { name: 'Remove' }).click();
    await button(owner, 'Remove').click();
    await owner.getByText('Member removed.').waitFor();
    await member.goto(`${instance.dashboard}/team`);
    await member.getByText(`Members of the organisation ${MEMBER}`).waitFor();
    expect(await member.getByLabel('Organisation').count()).toBe(0);
  });
});
