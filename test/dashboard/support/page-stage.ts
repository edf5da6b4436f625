import { type Browser, type Locator, type Page, type Route } from 'playwright-core';
import { openedForTests } from '../../support/opened';
import { openPage, settle, startBrowser, watch, type WatchedPage } from './browser';
import { type DashboardOptions } from './dashboard';
import { type Account, type AccountKind, addAccount, endSessions } from './page-accounts';
import { type PageDashboard, startPageDashboard } from './page-dashboard';
import { type SeedKey } from './seed-keys';

export interface OpenOptions {
  /** `usual` unless given; `nobody` is not signed in. */
  readonly as?: AccountKind | 'nobody';
  /** In place of the usual ones, on an account that has nothing else. */
  readonly keys?: readonly SeedKey[];
  /** Of scenes that only look: they share an account, which the first of them makes. */
  readonly isShared?: boolean;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** A request that changes something, as a page sent it. */
interface SentChange {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

const API = '**/api/**';
const AWAY = {
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({ title: 'Not ready', status: 503, code: 'service_not_ready', detail: 'The service is not ready.' }),
};
const refuse = (route: Route): Promise<void> => route.fulfill(AWAY);

/** Puts the cookies of an account into the browser profile of a page. */
export async function signInAs(page: Page, { url, cookie }: { readonly url: string; readonly cookie: string }): Promise<void> {
  const cookies = cookie
    .split('; ')
    .map((each) => ({ name: each.slice(0, each.indexOf('=')), value: each.slice(each.indexOf('=') + 1), url }));
  await page.context().addCookies(cookies);
}

const VIEWPORT = { width: 1280, height: 720 };

/**
 * One browser and one dashboard for a file's tests, and for each test that changes something an account of its own. The tests share a page,
 * which forgets all but the scripts that it has compiled: a page of its own would take each test a third more CPU time.
 */
export class PageStage {
  private running: { readonly browser: Browser; readonly dashboard: PageDashboard } | undefined;
  private shared: Page | undefined;
  private opened: (WatchedPage & { readonly account: Account | undefined }) | undefined;
  private readonly lookers = new Map<AccountKind, Account>();
  /** What the page of this test asked the API to change, in order. */
  readonly sent: SentChange[] = [];

  /** Call at the top of a file: starts and ends everything around its tests. @param options of the dashboard */
  static forFile(options: () => DashboardOptions | Promise<DashboardOptions> = () => ({})): PageStage {
    const stage = new PageStage();
    const opened = openedForTests();
    beforeAll(async () => {
      const [dashboard, browser] = await Promise.all([
        opened.keep(Promise.resolve(options()).then(startPageDashboard)),
        opened.keep(startBrowser()),
      ]);
      stage.running = { browser, dashboard };
    });
    afterEach(() => stage.leave());
    return stage;
  }

  private get parts(): { readonly browser: Browser; readonly dashboard: PageDashboard } {
    if (!this.running) throw new Error('the browser is not started yet');
    return this.running;
  }

  get browser(): Browser {
    return this.parts.browser;
  }

  get dashboard(): PageDashboard {
    return this.parts.dashboard;
  }

  get url(): string {
    return this.dashboard.url;
  }

  get page(): Page {
    if (!this.opened) throw new Error('no page is open yet');
    return this.opened.page;
  }

  /** Errors in the console of the page that is open. */
  get complaints(): readonly string[] {
    return this.opened?.complaints ?? [];
  }

  /** Whose pages these are. */
  get account(): Account {
    if (!this.opened?.account) throw new Error('nobody is signed in');
    return this.opened.account;
  }

  /** Makes an account, unless one is shared, and signs it in on a page that shows nothing yet. */
  async begin({ as = 'usual', keys, viewport = VIEWPORT, isShared = false }: OpenOptions = {}): Promise<void> {
    const known = as === 'nobody' || !isShared ? undefined : this.lookers.get(as);
    const account = as === 'nobody' ? undefined : (known ?? (await addAccount(this.dashboard, as, keys)));
    if (as !== 'nobody' && account && isShared) this.lookers.set(as, account);
    this.shared ??= (await openPage(this.browser)).page;
    const { page, complaints } = watch(this.shared);
    await page.setViewportSize(viewport);
    this.opened = { page, complaints, account };
    this.sent.length = 0;
    page.on('request', (request) => {
      const path = new URL(request.url()).pathname;
      if (request.method() === 'GET' || !path.startsWith('/api/')) return;
      this.sent.push({ method: request.method(), path, body: (request.postDataJSON() ?? {}) as Record<string, unknown> });
    });
    if (account) await signInAs(page, { url: this.url, cookie: account.cookie });
  }

  /** Opens a page of the dashboard and waits until it stands. */
  async open(path: string, options: OpenOptions = {}): Promise<void> {
    await this.begin(options);
    await this.goto(path);
  }

  /** Another page of the same dashboard. */
  async goto(path: string): Promise<void> {
    await this.page.goto(this.url + path);
    await settle(this.page);
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  /** What the pages sent to an address that changes something. */
  changes(method: string, path: string): SentChange[] {
    return this.sent.filter((each) => each.method === method && each.path === path);
  }

  /** @param place in the list of keys */
  keyPath(place = 0): string {
    return `/keys/${this.account.keys[place]}`;
  }

  async fillKeyForm(): Promise<void> {
    await this.button('Create a key').click();
    await this.page.getByRole('dialog').getByLabel('IP lookup').check();
  }

  /** Asks the dashboard past the page, as the same person. */
  async read<T>(path: string): Promise<T> {
    return (await this.dashboard.ask({ path: `/api${path}`, cookie: this.account.cookie })).json<T>();
  }

  /** Changes something past the page, as a colleague does. */
  async change(method: 'POST' | 'PUT' | 'PATCH', path: string, body: object): Promise<void> {
    const { statusCode, body: said } = await this.dashboard.ask({ method, path: `/api${path}`, cookie: this.account.cookie, body });
    if (statusCode !== 200) throw new Error(`${method} ${path} answered ${statusCode}: ${said}`);
  }

  /** From now on the API answers 503. */
  goAway(): Promise<unknown> {
    return this.page.route(API, refuse);
  }

  comeBack(): Promise<void> {
    return this.page.unroute(API, refuse);
  }

  /** Ends the person's sessions from another device. */
  endSession(): Promise<void> {
    return endSessions(this.dashboard.pool, this.account);
  }

  /** Ends what the test left in the page: its listeners and routes, the document with its timers, and all that the browser kept of it. */
  private async leave(): Promise<void> {
    const page = this.shared;
    this.opened = undefined;
    if (!page) return;
    await page.removeAllListeners(undefined, { behavior: 'ignoreErrors' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    page.on('dialog', (question) => void question.accept());
    await page.goto(`${this.url}/icon.svg`);
    page.removeAllListeners('dialog');
    await page.evaluate('localStorage.clear(), sessionStorage.clear()');
    await page.context().clearCookies();
    await page.context().clearPermissions();
  }
}
