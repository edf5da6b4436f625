import { type Locator, type Page } from 'playwright-core';
import { settle } from './browser';
import { type Account, type AccountKind } from './page-accounts';
import { type PageDashboard } from './page-dashboard';
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

export function placeOf(page: Page, dashboard: PageDashboard, account: Account): ScenePlace {
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
