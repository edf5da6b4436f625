/**
 * A process that ends a month as the dashboard does: it closes statements, has a payment provider charge use above limits, and issues
 * invoices. Bundled and started by a test, which may kill it. Prints what it did, and what that took.
 */
import { systemClock } from '../../../plugins/core/ports';
import { type BillingTerms, billingTerms, isInvoicing } from '../../../plugins/core/catalogue/billing-terms';
import { windowsAt } from '../../../plugins/core/access/quota';
import { issueInvoices } from '../../../services/selling/billing/issue-invoices';
import { watchCatalogue } from '../../../services/selling/catalogue/watch-catalogue';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { closeStatements } from '../../../services/selling/statements/close-statements';
import { reportOverage } from '../../../services/dashboard/billing/report-overage';
import { createStripePort } from '../../../services/dashboard/billing/stripe/stripe-port';
import { createLog } from '../../../services/kit/log';

const { DATABASE_URL = '', PROVIDER_URL = '', SECRET_KEY = '', FIRST_MONTH = '' } = process.env;
const timeZone = 'Asia/Kolkata';

/** Of a seller who issues invoices since this month. */
export const monthEndTerms = (from: string): BillingTerms =>
  billingTerms.parse({ provider: 'invoice', seller: { name: 'Seller', address: ['Street 1'], country: 'IN' }, invoices: { from } });

async function endMonth(): Promise<void> {
  const started = performance.now();
  const db = createPool(DATABASE_URL, { max: 5 });
  const onFailure = (of: object, error: unknown): void => {
    throw new Error(`not closed: ${JSON.stringify(of)}`, { cause: error });
  };
  const took: Record<string, number> = {};
  const timed = async <T>(name: string, work: Promise<T>): Promise<T> => {
    const from = performance.now();
    const done = await work;
    took[name] = Math.round(performance.now() - from);
    return done;
  };
  const now = systemClock.now() / 1_000;
  const statements = await timed('statements', closeStatements(db, { timeZone, now, onFailure }));
  const log = createLog('dashboard', { level: 'warn' });
  const ports = { sandbox: createStripePort({ name: 'sandbox', secretKey: SECRET_KEY, webhookSecret: 'whsec', url: PROVIDER_URL }) };
  const tools = { db, clock: systemClock, catalogue: watchCatalogue(db), log, ports, isEnding: () => false };
  await timed('reports', reportOverage(tools));
  const terms = monthEndTerms(FIRST_MONTH);
  if (!isInvoicing(terms)) throw new Error('no terms');
  const today = windowsAt(now, timeZone).day;
  const invoices = await timed('invoices', issueInvoices(db, { terms, today, titleOf: (product) => product, onFailure }));
  await db.end();
  const { user, system } = process.cpuUsage();
  const cost = { ms: performance.now() - started, cpuMs: (user + system) / 1_000, rssMiB: process.resourceUsage().maxRSS / 1_024 };
  process.stdout.write(JSON.stringify({ statements, invoices, took, ...cost }));
}

if (DATABASE_URL !== '') void endMonth();
