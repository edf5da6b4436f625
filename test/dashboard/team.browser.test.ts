import { type Browser, type Page } from 'playwright-core';
import { step } from '../support/step';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { openPage, startBrowser } from './support/browser';
import { type Entrant, press, signUp } from './support/entrances';
import { expectRoleRefused, invite, joinByInvitation, removeMember } from './support/team-steps';

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

test('a second person joins by an invitation, does what the role allows, and is out once removed', async () => {
  const founder: Entrant = { page: owner, dashboard: instance.dashboard, email: OWNER, password: PASSWORD };
  const joiner: Entrant = { page: member, dashboard: instance.dashboard, email: MEMBER, password: PASSWORD };

  await step('an owner signs up and invites somebody as a read-only member', async () => {
    await signUp(founder);
    await owner.getByText(/^tg_test_\w+$/).waitFor();
    await press(owner, 'I have copied it');
    await invite(founder, { email: MEMBER, role: 'Read-only' });
  });

  await step('the invited person signs up, with the address filled in, and comes back to the invitation', () =>
    joinByInvitation(joiner, OWNER),
  );

  await step('the member sees the keys of the organisation, and can change nothing', async () => {
    expect(await member.getByLabel('Organisation').locator('option:checked').innerText()).toBe(`${OWNER} (Read-only)`);
    await expectRoleRefused(member);
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
    await removeMember(founder, MEMBER);
    await member.goto(`${instance.dashboard}/team`);
    await member.getByText(`Members of the organisation ${MEMBER}`).waitFor();
    expect(await member.getByLabel('Organisation').count()).toBe(0);
  });
});
