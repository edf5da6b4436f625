import { type Browser, type Locator, type Page } from 'playwright-core';
import { openPage, settle, startBrowser } from './browser';
import { startFakeApi, type FakeApi } from './fake-api';
import { FakeState } from './fake-state';

interface OpenOptions {
  readonly state?: FakeState;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** One browser for a file's tests, and for each test the pages with an API that it can change. */
export class PageStage {
  private running: Browser | undefined;
  private pages: { readonly api: FakeApi; readonly page: Page } | undefined;

  /** Call at the top of a file: starts and ends everything around its tests. */
  static forFile(): PageStage {
    const stage = new PageStage();
    beforeAll(async () => {
      stage.running = await startBrowser();
    });
    afterEach(() => stage.leave());
    afterAll(() => stage.browser.close());
    return stage;
  }

  get browser(): Browser {
    if (!this.running) throw new Error('the browser is not started yet');
    return this.running;
  }

  get api(): FakeApi {
    return this.opened.api;
  }

  get page(): Page {
    return this.opened.page;
  }

  private get opened(): { readonly api: FakeApi; readonly page: Page } {
    if (!this.pages) throw new Error('no page is open yet');
    return this.pages;
  }

  /** Starts the API and opens a blank page beside it. */
  async begin({ state = new FakeState(), ...look }: OpenOptions = {}): Promise<void> {
    const api = await startFakeApi(state);
    this.pages = { api, page: (await openPage(this.browser, look)).page };
  }

  /** Opens a page of the dashboard and waits until it stands. */
  async open(path: string, options: OpenOptions = {}): Promise<void> {
    await this.begin(options);
    await this.goto(path);
  }

  /** Another page of the same dashboard. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.api.url + path);
    await settle(this.page);
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** What the pages sent to an address that changes something. */
  changes(method: string, path: string): FakeApi['state']['requests'] {
    return this.api.state.requests.filter((each) => each.method === method && each.path === path);
  }

  keyPath(): string {
    return `/keys/${this.api.state.keys[0]?.id}`;
  }

  async fillKeyForm(): Promise<void> {
    await this.button('Create a key').click();
    await this.page.getByRole('dialog').getByLabel('IP lookup').check();
  }

  private async leave(): Promise<void> {
    await this.pages?.page.context().close();
    await this.pages?.api.close();
    this.pages = undefined;
  }
}
