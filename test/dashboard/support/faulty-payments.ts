import { type Clock } from '../../../plugins/core/ports';
import { billingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { ProviderAway } from '../../../services/selling/billing/payment-port';
import { type StripeSubscription } from '../../../services/sandbox/payments/objects';
import { PRODUCTS } from '../../support/catalogue';
import { startPayingDashboard } from './paying-dashboard';
import { payingPeople } from './paying-people';
import { useOpened } from '../../support/opened';

export const PRODUCT = 'api-ip';
export const DAY_MS = 86_400_000;
export const MONTH_MS = 31 * DAY_MS;

export const ip = PRODUCTS.find(({ id }) => id === PRODUCT);
/** A second plan that is paid for. */
export const sun = { name: 'Sun', daily: 200_000, monthly: 6_000_000, price: '999.00', currency: 'INR', approval: 'automatic' } as const;
export const SOLD = PRODUCTS.map((each) => (each === ip ? { ...each, plans: [...each.plans, sun] } : each));

/**
 * A dashboard whose way to its payment provider a test breaks, and whose clocks it turns. Call it at the top of a test file; each test begins
 * with nothing broken and all of `SOLD` for sale.
 */
export function useFaultyPayments() {
  const faults = {
    /** How far our clock is ahead of the provider's. */
    ownMs: 0,
    /** Answers of the provider to changes do not arrive. */
    losesAnswers: false,
  };
  /** How far the provider's clock is ahead of the machine's. */
  let providerMs = 0;
  const clock: Clock = { now: () => Date.now() + providerMs + faults.ownMs, monotonic: () => performance.now() };
  const dashboard = useOpened(() =>
    startPayingDashboard({
      clock,
      providerNow: () => Date.now() + providerMs,
      wrap: (port) => ({
        ...port,
        changeSubscription: (...given) => mayBeLost(port.changeSubscription(...given)),
        refund: (...given) => mayBeLost(port.refund(...given)),
      }),
    }),
  );
  const people = payingPeople(dashboard, PRODUCT);

  /** Time passes, at the provider and here. */
  function pass(ms: number): void {
    providerMs = dashboard.provider.ledger.second() * 1_000 + ms - Date.now();
  }

  /** Has the catalogue sell these products, with these terms of payment. */
  async function sell(payments: { grace_days?: number; after_grace?: 'base' | 'suspend' } = {}, products = SOLD): Promise<void> {
    const billing = billingTerms.parse({ provider: 'stripe', payments });
    await applyCatalogue(dashboard.pool, createCatalogue(products, { billing }), { actor: 'test' });
  }

  async function mayBeLost<T>(work: Promise<T>): Promise<T> {
    const answer = await work;
    if (faults.losesAnswers) throw new ProviderAway('the answer was lost');
    return answer;
  }

  beforeEach(async () => {
    // Time does not go back.
    pass(0);
    faults.ownMs = 0;
    faults.losesAnswers = false;
    dashboard.line.setMode('pass');
    dashboard.hear(true);
    await sell();
  });

  /** The work looks at this paid plan, or checkout, whatever it is due. */
  async function look(of: { subscription: StripeSubscription } | { checkoutId: string }): Promise<void> {
    const [table, id] =
      'subscription' in of ? ['paid_subscription WHERE reference', of.subscription.id] : ['checkout WHERE id::text', of.checkoutId];
    await dashboard.pool.query(`UPDATE ${table.replace(' WHERE', ' SET look_at = now() WHERE')} = $1`, [id]);
    dashboard.poke();
    await dashboard.settled();
  }

  /** In how many seconds the provider is asked next. */
  async function nextLook({ subscription }: { subscription: StripeSubscription }): Promise<number> {
    const { rows } = await dashboard.pool.query<{ seconds: number }>(
      'SELECT extract(epoch FROM look_at - now())::float8 AS seconds FROM paid_subscription WHERE reference = $1',
      [subscription.id],
    );
    return rows[0]?.seconds ?? NaN;
  }

  /** Events that nobody takes are lost for good. */
  function loseEvents(): void {
    dashboard.hear(false);
    dashboard.provider.ledger.books.waiting = [];
  }

  return { ...people, dashboard, clock, faults, pass, sell, look, nextLook, loseEvents };
}

export type FaultyPayments = ReturnType<typeof useFaultyPayments>;
