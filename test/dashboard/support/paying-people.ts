import { type StripeSession, type StripeSubscription } from '../../../services/sandbox/payments/objects';
import { type PayingDashboard } from './paying-dashboard';

export interface PayingCustomer {
  readonly ask: (path: string, body?: unknown, method?: 'GET' | 'POST' | 'PUT') => ReturnType<PayingDashboard['ask']>;
  readonly id: string;
}

interface ShownProduct {
  readonly subscription: {
    plan: string | null;
    state: string;
    id: string;
    version: string;
    suspended?: object;
    ownPrice: object | null;
  } | null;
  readonly plans: { name: string; isPaidFirst: boolean }[];
}

/** Customers who pay for plans of one product, by the dashboard's own pages. */
export function payingPeople(dashboard: PayingDashboard, product: string) {
  async function newCustomer(): Promise<PayingCustomer> {
    const cookie = await dashboard.signIn();
    const ask: PayingCustomer['ask'] = (path, body, method = body === undefined ? 'GET' : 'POST') =>
      dashboard.ask({ method, path: `/api${path}`, body, cookie });
    return { ask, id: (await ask('/session')).json().customerId };
  }

  const productOf = async ({ ask }: PayingCustomer): Promise<ShownProduct> =>
    (await ask('/products')).json().products.find(({ id }: { id: string }) => id === product);
  const planOf = async (customer: PayingCustomer) => (await productOf(customer)).subscription?.plan;

  async function checkout({ ask }: PayingCustomer, plan = 'Star'): Promise<{ id: string; session: StripeSession }> {
    const answer = await ask('/checkouts', { product, plan });
    expect(answer.statusCode).toBe(200);
    const { id, url } = answer.json();
    const session = Object.values(dashboard.provider.ledger.books.sessions).find((each) => each.url === url);
    if (!session) throw new Error('the provider knows no such page');
    return { id, session };
  }

  async function paidCustomer(): Promise<PayingCustomer & { subscription: StripeSubscription; checkoutId: string }> {
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    const subscription = dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Star');
    return { ...customer, subscription, checkoutId: id };
  }

  return { newCustomer, productOf, planOf, checkout, paidCustomer };
}
