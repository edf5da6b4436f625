import { type Overage } from '../../../plugins/core/catalogue/catalogue';
import { watchCatalogue } from '../../../services/selling/catalogue/watch-catalogue';
import { type StripeSession } from '../../../services/sandbox/payments/objects';
import { firstOf } from '../../support/scenes';
import { type FaultyPayments, ip, PRODUCT } from './faulty-payments';
import { type MortalProcess, mortalProcess } from './mortal-process';

/** Somebody who wants a plan, and the work of a process that takes the payment for it. */
export function paymentWork({ dashboard, clock }: Pick<FaultyPayments, 'dashboard' | 'clock'>) {
  const tools = () => ({ db: dashboard.db, clock, catalogue: watchCatalogue(dashboard.db) });
  /** What a process leaves that dies just before a step, one left that died just after the step before. */
  const deaths = firstOf(['after', 'before'] as const);

  async function newWish() {
    const { rows } = await dashboard.pool.query<{ id: string }>(
      "INSERT INTO customer (email) VALUES (gen_random_uuid() || '@example.com') RETURNING id",
    );
    const { daily, monthly } = ip?.plans.find(({ name }) => name === 'Star') ?? { daily: 0, monthly: 0 };
    const star = { plan: 'Star', price: 49_900, currency: 'INR', daily, monthly, overage: null as Overage | null };
    return { ...star, customerId: rows[0]?.id ?? '', product: PRODUCT, provider: 'sandbox', actor: 'test' };
  }
  const place = { url: 'http://dashboard.test', email: 'x@example.com', mailbox: 'x' };

  /** Runs work in processes that die at each of its steps in turn, until one lives to its end; just after it and, in `npm run test:all`, before. */
  async function killEverywhere<Prepared>(
    prepare: () => Promise<Prepared>,
    work: (mortal: MortalProcess, wish: Prepared) => Promise<unknown>,
  ) {
    const wishes: Prepared[] = [];
    for (const when of deaths) {
      for (let step = 1, hasLived = false; !hasLived; step++) {
        const wish = await prepare();
        const mortal = mortalProcess({ pool: dashboard.db, port: dashboard.port }, { step, when });
        await work(mortal, wish).then(
          () => (hasLived = true),
          (error: unknown) => {
            if (!mortal.isDead()) throw error;
          },
        );
        wishes.push(wish);
      }
    }
    return wishes;
  }

  const sessionOf = (url: string): StripeSession => {
    const found = Object.values(dashboard.provider.ledger.books.sessions).find((each) => each.url === url);
    if (!found) throw new Error('the provider knows no such page');
    return found;
  };

  return { tools, newWish, place, killEverywhere, deaths: deaths.length, sessionOf };
}

/** What a customer wants to pay for. */
export type Wish = Awaited<ReturnType<ReturnType<typeof paymentWork>['newWish']>>;
