import { type ChargeFact } from '../paid-plans/payment-state';
import { type Database } from '../../../plugins/stores/postgres/database';
import { type OutboxItem, type PaymentNews } from '../outbox/outbox';

/** The content of a mail about a payment. */
export interface ToldPayment {
  readonly news: PaymentNews;
  readonly customerId: string;
  readonly product: string;
  readonly plan: string;
  readonly status: string | null;
  /** Seconds since 1970. */
  readonly failingSince: number | null;
  /** Fact of the kinds `paid` and `failed`. */
  readonly fact: ChargeFact | null;
  /** When the fact happened, in seconds since 1970. */
  readonly at: number | null;
}

const READ = `
SELECT split_part($2, ' ', 1) AS news, p.customer_id AS "customerId", p.product_id AS product, COALESCE(p.plan_name, '') AS plan, p.status,
  extract(epoch FROM p.failing_since)::float8 AS "failingSince",
  f.fact, extract(epoch FROM f.at)::float8 AS at
FROM paid_subscription p LEFT JOIN payment_fact f ON f.provider = p.provider AND f.id = substr($2, strpos($2, ' ') + 1) WHERE p.id = $1`;

/** Undefined once the subscription is gone. */
export async function readToldPayment(db: Database, { subject, detail }: OutboxItem<'payment'>): Promise<ToldPayment | undefined> {
  return (await db.query<ToldPayment>(READ, [subject, detail])).rows[0];
}
