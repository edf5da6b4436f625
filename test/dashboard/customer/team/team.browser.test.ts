import { type Page } from 'playwright-core';
import { inTestAll } from '../../../support/scenes';
import { step } from '../../../support/step';
import { openPage } from '../../support/browser';
import { type Entrant, press, signUp } from '../../support/entrances';
import { PageStage } from '../../support/page-stage';
import { expectRoleRefused, invite, joinByInvitation, removeMember } from '../../support/team-steps';

const OWNER = 'owner@example.com';
const MEMBER = 'member@example.com';
const PASSWORD = 'a team’s own words 41';

const stage = PageStage.forFile();
let owner: Page;
let member: Page;
const complaints: string[] = [];

async function person(): Promise<Page> {
  const opened = await openPage(stage.browser);
  opened.page.on('close', () => complaints.push(...opened.complaints));
  return opened.page;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

// In `npm test` a second person joins, reads only and is removed in test/dashboard/walks/customer.measured.test.ts.
inTestAll('a second person joins by an invitation, does what the role allows, and is out once removed', async () => {
  [owner, member] = await Promise.all([person(), person()]);
  const founder: Entrant = { page: owner, dashboard: stage.url, email: OWNER, password: PASSWORD };
  const joiner: Entrant = { page: member, dashboard: stage.url, email: MEMBER, password: PASSWORD };

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
    // Or the open page, which notices it, might lead elsewhere while the next one is opened.
    await member.goto('about:blank');
    await removeMember(founder, MEMBER);
    await member.goto(`${stage.url}/team`);
    await member.getByText(`Members of the organisation ${MEMBER}`).waitFor();
    expect(await member.getByLabel('Organisation').count()).toBe(0);
  });
  await Promise.all([owner.close(), member.close()]);
  expect(complaints).toEqual([]);
});

const LONG = 'Unbroken'.repeat(12);

async function rename(name: string): Promise<void> {
  await stage.button('Rename').click();
  const dialog = stage.page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await dialog.getByRole('button', { name: 'Save name' }).click();
  await dialog.waitFor({ state: 'detached' });
}

describe('the name of an organisation', () => {
  it('is given on the team page, and stands there and in the switcher at once', async () => {
    await stage.open('/team');
    await rename('Müller & Söhne');
    await stage.page.getByText('Members of the organisation Müller & Söhne.').waitFor();
    await stage.page.getByLabel('Organisation').locator('option', { hasText: 'Müller & Söhne (Owner)' }).waitFor({ state: 'attached' });
    await rename('');
    await stage.page.getByText(`Members of the organisation ${stage.account.email}.`).waitFor();
  });

  it('of 96 characters without a space stays within a phone’s screen', async () => {
    await stage.open('/team', { viewport: { width: 360, height: 740 } });
    await rename(LONG);
    await stage.page.getByText(`Members of the organisation ${LONG}.`).waitFor();
    expect(await stage.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
  });
});
