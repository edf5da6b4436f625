import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();

describe('creating a key', () => {
  it('sends one request for a double click', async () => {
    await stage.open('/keys');
    await stage.fillKeyForm();
    let answer: () => void = () => undefined;
    const isAnswering = new Promise<void>((resolve) => (answer = resolve));
    await stage.page.route('**/api/keys', (route) => isAnswering.then(() => route.fallback()));
    await stage.button('Create key').dblclick();
    answer();
    await stage.page.getByText('First call', { exact: true }).waitFor();
    expect(stage.changes('POST', '/api/keys')).toHaveLength(1);
  });

  it('has its button in sight on a screen of 800 px', async () => {
    await stage.begin({ viewport: { width: 1280, height: 800 } });
    await stage.goto(`/keys`);
    await stage.fillKeyForm();
    const box = await stage.button('Create key').boundingBox();
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
    await stage.page.getByRole('dialog').getByLabel('Whitelist rules').fill('10.0.0.0/8');
    expect(await stage.page.getByRole('dialog').getByLabel('Whitelist rules').inputValue()).toBe('10.0.0.0/8');
  });

  it('tells which key it made when the answer was lost', async () => {
    await stage.open('/keys');
    await stage.page.route(
      '**/api/keys',
      async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        await route.fetch();
        return route.abort();
      },
      { times: 1 },
    );
    await stage.fillKeyForm();
    await stage.button('Create key').click();
    await stage.page.getByText('The server cannot be reached').waitFor();
    await stage.button('Create key').click();
    await stage.page.getByText('This form already created its key').waitFor();
    const [first, second] = stage.changes('POST', '/api/keys');
    expect(second?.body['submission']).toBe(first?.body['submission']);
  });

  it('leaves no trace of the secret once its dialog is closed', async () => {
    await stage.open('/', { as: 'new' });
    await stage.button('Create a test key').click();
    await stage.page.getByRole('dialog').getByLabel('IP lookup').waitFor();
    await stage.button('Create key').click();
    const shown = stage.page.getByText(/^tg_test_\w+$/);
    await shown.waitFor();
    const secret = await shown.innerText();
    await stage.button('I have copied it').click();
    await stage.page.getByRole('dialog').waitFor({ state: 'detached' });
    const kept = await stage.page.evaluate(
      '[document.documentElement.outerHTML, location.href, JSON.stringify([localStorage, sessionStorage, history.state])].join()',
    );
    expect(kept).not.toContain(secret);
  });
});

describe('a secret that was not copied yet', () => {
  const secret = () => stage.page.getByText(/^tg_test_\w+$/);
  async function create(): Promise<void> {
    await stage.open('/plans');
    await stage.page.getByRole('link', { name: 'Keys' }).click();
    await stage.page.getByRole('heading', { name: 'Keys' }).waitFor();
    await stage.fillKeyForm();
    await stage.button('Create key').click();
    await secret().waitFor();
  }

  it('is not lost by Back, which asks first', async () => {
    await create();
    await stage.page.goBack().catch(() => undefined);
    await stage.page.getByRole('alert').getByText('You have not copied it yet').waitFor();
    await stage.button('Stay').click();
    expect(await secret().isVisible()).toBe(true);
    await stage.page.goBack().catch(() => undefined);
    await stage.button('Leave without it').click();
    await stage.page.getByRole('heading', { name: 'Plans' }).waitFor();
  });

  it('is not lost by a reload, which asks first; once copied, nothing asks', async () => {
    await create();
    const asked = stage.page.waitForEvent('dialog');
    void stage.page.evaluate('location.reload()').catch(() => undefined);
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await secret().isVisible()).toBe(true);
    await stage.button('Copy key').click();
    await stage.button('Copied').waitFor();
    await stage.page.goBack();
    await stage.page.getByRole('heading', { name: 'Plans' }).waitFor();
  });
});
