import { type Browser, type Locator, type Page, type ViewportSize } from 'playwright-core';
import { openPage, seeAll, settle, type WatchedPage } from './browser';
import { type Account, type AccountKind, addAccount, inviteSomebodyElse, NOBODY } from './page-accounts';
import { type PageDashboard } from './page-dashboard';
import { signInAs } from './page-stage';
import { type Pool } from 'pg';
import { dayAgo } from './seed-use';
import { type SeedKey } from './seed-keys';

/** Where a scene is played. */
export interface ScenePlace {
  readonly page: Page;
  readonly dashboard: PageDashboard;
  /** Empty for a scene that nobody is signed in for. */
  readonly account: Account;
  readonly button: (name: string) => Locator;
  /** Opens a page of the dashboard and waits until it stands. */
  readonly go: (path: string) => Promise<void>;
}

/** A page as it is looked at: who looks, where, and what that person does first. */
export interface Scene {
  readonly name: string;
  readonly as: AccountKind | 'nobody';
  /** In place of the usual ones. */
  readonly keys?: readonly SeedKey[];
  /** Of the screen, where the scene is only there at this size. */
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly path: (account: Account) => string;
  /** What only shows after a click, a fault or a second person. The account is the scene's own. */
  readonly play?: (place: ScenePlace) => Promise<void>;
}

function placeOf(page: Page, dashboard: PageDashboard, account: Account): ScenePlace {
  return {
    page,
    dashboard,
    account,
    button: (name) => page.getByRole('button', { name, exact: true }),
    go: async (path) => {
      await page.goto(dashboard.url + path);
      await settle(page);
    },
  };
}

/** $1 today. A product that is new, one that nobody calls on Sundays, one whose answers nobody reports, and of each a day on which it failed. */
const FILL = `
INSERT INTO product_answers (day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
SELECT day, product, calls, told * (calls - calls / 20 - failed), told * (calls / 20), told * failed, told * 0,
  CASE WHEN told = 1 THEN ARRAY[0, 0, calls / 2, calls / 3, 0, 0, calls - calls / 2 - calls / 3, 0, 0, 0, 0, 0] END
FROM (VALUES ('api-ip', 300000, 89, 1, 47), ('api-gst', 6000, 60, 1, 12), ('api-pincode', 3000, 89, NULL, 0), ('api-seo', 900, 89, 1, 31),
    ('api-image', 400, 20, 1, 8)) AS given (product, a_day, oldest, told, worst)
CROSS JOIN LATERAL (SELECT back, $1::date - back AS day, a_day - a_day * (back % 7) / 20 AS calls FROM generate_series(0, oldest) AS back) AS days
CROSS JOIN LATERAL (SELECT CASE WHEN back = worst THEN calls / 5 WHEN back % 29 = 3 THEN calls / 60 WHEN back % 13 = 5 THEN calls / 2000 ELSE 0 END
  AS failed) AS faults
WHERE NOT (product = 'api-seo' AND extract(isodow FROM day) = 7)`;

/** What products answered in the last 90 days, as the status page shows it. */
async function seedAvailability(pool: Pool): Promise<void> {
  await pool.query(FILL, [dayAgo(0)]);
}

interface ScenePlaces {
  readonly browser: Browser;
  readonly dashboard: PageDashboard;
}

/** Plays scenes on one dashboard in one browser. What only looks shares an account and a page; what acts has its own. */
export class SceneStage {
  private readonly shared = new Map<string, { readonly watched: WatchedPage; readonly account: Account }>();

  private constructor(private readonly place: ScenePlaces & { readonly viewport: ViewportSize }) {}

  /** Fills what all scenes see. */
  static async on({ browser, dashboard }: ScenePlaces, viewport: ViewportSize = { width: 1280, height: 720 }): Promise<SceneStage> {
    await inviteSomebodyElse(dashboard);
    // For the page of the outbox.
    await dashboard.signUp('letter@example.com');
    await seedAvailability(dashboard.pool);
    return new SceneStage({ browser, dashboard, viewport });
  }

  /** Plays a scene up to what is to be looked at. @returns what `look` returns */
  async play<T>(scene: Scene, look: (watched: WatchedPage) => Promise<T>): Promise<T> {
    const { watched, account } = scene.play ? await this.open(scene) : await this.openShared(scene);
    const { page, complaints } = watched;
    complaints.length = 0;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(scene.viewport ?? this.place.viewport);
    try {
      await page.goto(this.place.dashboard.url + scene.path(account));
      await settle(page);
      await seeAll(page);
      await scene.play?.(placeOf(page, this.place.dashboard, account));
      return await look(watched);
    } finally {
      if (scene.play) await page.context().close();
    }
  }

  private async openShared(scene: Scene): Promise<{ watched: WatchedPage; account: Account }> {
    const known = this.shared.get(scene.as) ?? (await this.open(scene));
    this.shared.set(scene.as, known);
    return known;
  }

  private async open({ as, keys, viewport = this.place.viewport }: Scene): Promise<{ watched: WatchedPage; account: Account }> {
    const account = as === 'nobody' ? NOBODY : await addAccount(this.place.dashboard, as, keys);
    const watched = await openPage(this.place.browser, { viewport });
    if (as !== 'nobody') await signInAs(watched.page, { url: this.place.dashboard.url, cookie: account.cookie });
    return { watched, account };
  }
}
