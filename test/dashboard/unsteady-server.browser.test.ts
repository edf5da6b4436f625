import { eventually } from '../support/eventually';
import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('a session that ended under an open page', () => {
  it('is noticed by itself and leads to the sign-in page', async () => {
    await stage.open('/usage');
    await stage.endSession();
    await stage.page.waitForURL(/\/sign-in\?.*then=/);
    await stage.page.getByText('Your session has ended').waitFor();
  });
});

describe('a session that ends while a secret is shown', () => {
  it.each([
    ['a new key', '/keys', /^tg_test_\w+$/],
    ['the secret of a webhook', '/webhooks', /^whsec_\w+=$/],
  ])('does not take %s away; closing it leads to the sign-in page', async (_what, path, secret) => {
    await stage.open(path);
    if (path === '/keys') {
      await stage.fillKeyForm();
      await stage.button('Create key').click();
    } else {
      await stage.button('Add a webhook').first().click();
      await stage.page.getByRole('dialog').getByLabel('URL').fill('https://hooks.example.com/tollgate');
      await stage.page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    }
    await stage.page.getByText(secret).waitFor();
    await stage.endSession();
    const notice = stage.page.getByRole('alert').filter({ hasText: 'Your session has ended' });
    await eventually(async () => {
      // Back from another window: whatever is a few seconds old is asked for again.
      await stage.page.evaluate('window.dispatchEvent(new Event("visibilitychange"))');
      return notice.isVisible();
    }, 20_000);
    expect(await stage.page.getByText(secret).isVisible()).toBe(true);
    await stage.button('I have copied it').click();
    await stage.page.waitForURL(/\/sign-in\?/, { timeout: 15_000 });
  });
});

describe('a server that does not answer', () => {
  it('is said in a banner, which goes once it answers again', async () => {
    await stage.open('/keys');
    await stage.goAway();
    await stage.page.getByRole('link', { name: 'Plans' }).click();
    const banner = stage.page.getByText('The server is not responding');
    await banner.waitFor();
    // Else the banner, which tries by itself, might go before the click.
    let answer: () => void = () => undefined;
    const isAnswering = new Promise<void>((resolve) => (answer = resolve));
    await stage.page.route('**/api/**', (route) => isAnswering.then(() => route.continue()));
    await stage.button('Retry now').click();
    answer();
    await banner.waitFor({ state: 'detached' });
    await stage.page.getByRole('heading', { name: 'Aadhaar' }).waitFor();
  });
});

describe('a page that could not be opened', () => {
  it('opens by itself once the server answers again', async () => {
    await stage.begin();
    await stage.goAway();
    await stage.page.goto(`${stage.url}/keys`);
    await stage.page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await stage.comeBack();
    await stage.page.getByRole('heading', { name: 'Keys' }).waitFor({ timeout: 20_000 });
  });

  it('shows its content once any request is answered again', async () => {
    await stage.open('/keys');
    await stage.goAway();
    await stage.page.getByRole('link', { name: 'Checkout server' }).click();
    await stage.page.getByRole('alert').first().waitFor();
    await stage.comeBack();
    await stage.page.getByLabel('One rule per line').waitFor({ timeout: 20_000 });
  });
});
