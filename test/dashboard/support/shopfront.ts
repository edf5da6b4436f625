import { type CatalogueProduct, createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { type KnownSource } from '../../../services/dashboard/http/dashboard-deps';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { openedForTests } from '../../support/opened';
import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { buildDocument } from '../../support/openapi/build-document';
import { type DashboardOptions, startDashboard, type TestDashboard } from './dashboard';

let ours: string | undefined;
export const describeOurs = (): string => (ours ??= JSON.stringify(buildDocument('http://gateway.test', CATALOGUE)));

/** Two products, of which `api-ip` is changed: pages of them cost a tenth of pages of all. */
export const withIp = (change: Partial<CatalogueProduct>): CatalogueProduct[] =>
  PRODUCTS.flatMap((each) => (each.id === 'api-ip' ? [{ ...each, ...change }] : each.id === 'api-seo' ? [each] : []));

/** The public pages of a dashboard, which knows and describes what a test says. */
export class Shopfront {
  private running: TestDashboard | undefined;
  sources: Readonly<Record<string, KnownSource>> = {};
  readDocument = describeOurs;
  private sinceStartMs = 0;
  private laterMs = 0;

  /** One for all tests of a file. */
  static forFile(more: () => DashboardOptions = () => ({})): Shopfront {
    const shop = new Shopfront();
    const opened = openedForTests();
    beforeAll(async () => {
      const starting = startDashboard({
        ...more(),
        clock: { now: () => Date.now() + shop.laterMs, monotonic: () => shop.sinceStartMs },
        readDocument: () => shop.readDocument(),
        liveSources: { find: (product) => shop.sources[product] ?? null, revision: () => JSON.stringify(shop.sources) },
      });
      shop.running = await opened.keep(starting);
    });
    return shop;
  }

  get dashboard(): TestDashboard {
    if (!this.running) throw new Error('the dashboard is not started yet');
    return this.running;
  }

  /** Has the catalogue sell these, as pages show it by now. */
  async sell(products: readonly CatalogueProduct[] = CATALOGUE.products): Promise<void> {
    await applyCatalogue(this.dashboard.pool, createCatalogue(products), { actor: 'test' });
    this.refresh();
  }

  /** Until pages show what was changed beside the catalogue. */
  refresh(): void {
    this.sinceStartMs += 2_000;
  }

  /** Until pages ask the database again for what they keep for a minute. */
  passMinute(): void {
    this.laterMs += 60_000;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}) {
    return this.dashboard.ask({ path, headers });
  }
}
