import { type Browser, type Page } from 'playwright-core';
import { inaccessible } from './support/axe';
import { openPage, settle, startBrowser } from './support/browser';
import { EVERY_PAGE, type PageCase } from './support/every-page';
import { type FakeApi, startFakeApi } from './support/fake-api';
import { FakeState } from './support/fake-state';
import { SCENES } from './support/scenes';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());

const SCHEMES = ['light', 'dark'] as const;

/** Everything wrong with a page in one scheme. */
async function faultsOf(
  colorScheme: (typeof SCHEMES)[number],
  state: FakeState,
  go: (page: Page, api: FakeApi) => Promise<void>,
): Promise<string[]> {
  const api = await startFakeApi(state);
  const { page, complaints } = await openPage(browser, { colorScheme });
  try {
    await go(page, api);
    return [...(await inaccessible(page)), ...complaints].map((fault) => `${colorScheme}: ${fault}`);
  } finally {
    await page.context().close();
    await api.close();
  }
}

async function faultsOfPage({ path, isSignedOut = false, isEmpty = false }: PageCase): Promise<string[]> {
  const found = SCHEMES.map((colorScheme) => {
    const state = isEmpty ? FakeState.empty() : new FakeState();
    state.isSignedIn = !isSignedOut;
    return faultsOf(colorScheme, state, async (page, api) => {
      await page.goto(api.url + path(state));
      await settle(page);
    });
  });
  return (await Promise.all(found)).flat();
}

describe.each(EVERY_PAGE)('the page $name', (each) => {
  it('has nothing that axe finds in either scheme, and no error under its policy', async () => {
    expect(await faultsOfPage(each)).toEqual([]);
  });
});

describe.each(SCENES)('the scene $name', ({ state, play }) => {
  it('has nothing that axe finds in either scheme, and no error under its policy', async () => {
    const found = await Promise.all(SCHEMES.map((colorScheme) => faultsOf(colorScheme, state(), play)));
    expect(found.flat()).toEqual([]);
  });
});
