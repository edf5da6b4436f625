import { type Browser, type ViewportSize } from 'playwright-core';
import { type OpenedParts, openTogether } from '../../support/opened';
import { type DashboardOptions } from './dashboard';
import { openPage, seeAll, settle, startBrowser, type WatchedPage } from './browser';
import { type Account, addAccount, inviteSomebodyElse, NOBODY } from './page-accounts';
import { type PageDashboard, startPageDashboard } from './page-dashboard';
import { signInAs } from './page-stage';
import { placeOf, type Scene } from './scene';
import { seedAvailability } from './seed-availability';

/** Plays scenes on one dashboard in one browser. What only looks shares an account and a page; what acts has its own. */
export class SceneStage {
  private readonly shared = new Map<string, { readonly watched: WatchedPage; readonly account: Account }>();

  private constructor(
    private readonly parts: OpenedParts,
    private readonly on: { readonly browser: Browser; readonly dashboard: PageDashboard; readonly viewport: ViewportSize },
  ) {}

  static start(viewport: ViewportSize = { width: 1280, height: 720 }, options: DashboardOptions = {}): Promise<SceneStage> {
    return openTogether(async (parts) => {
      const [dashboard, browser] = await Promise.all([
        parts.keep(startPageDashboard(options), (each) => each.close()),
        parts.keep(startBrowser(), (each) => each.close()),
      ]);
      await inviteSomebodyElse(dashboard);
      await seedAvailability(dashboard.pool);
      return new SceneStage(parts, { browser, dashboard, viewport });
    });
  }

  /** Plays a scene up to what is to be looked at. @returns what `look` returns */
  async play<T>(scene: Scene, look: (watched: WatchedPage) => Promise<T>): Promise<T> {
    const { watched, account } = scene.play ? await this.open(scene) : await this.openShared(scene);
    const { page, complaints } = watched;
    complaints.length = 0;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(scene.viewport ?? this.on.viewport);
    try {
      await page.goto(this.on.dashboard.url + scene.path(account));
      await settle(page);
      await seeAll(page);
      await scene.play?.(placeOf(page, this.on.dashboard, account));
      return await look(watched);
    } finally {
      if (scene.play) await page.context().close();
    }
  }

  close(): Promise<void> {
    return this.parts.close();
  }

  private async openShared(scene: Scene): Promise<{ watched: WatchedPage; account: Account }> {
    const known = this.shared.get(scene.as) ?? (await this.open(scene));
    this.shared.set(scene.as, known);
    return known;
  }

  private async open({ as, keys, viewport = this.on.viewport }: Scene): Promise<{ watched: WatchedPage; account: Account }> {
    const account = as === 'nobody' ? NOBODY : await addAccount(this.on.dashboard, as, keys);
    const watched = await openPage(this.on.browser, { viewport });
    if (as !== 'nobody') await signInAs(watched.page, { url: this.on.dashboard.url, cookie: account.cookie });
    return { watched, account };
  }
}
