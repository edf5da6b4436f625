import { type PoolClient } from 'pg';
import { type Actor, writeAudits } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';
import { subscribe } from '../subscriptions/subscribe';
import { requirePlan, requireSubscribable } from '../subscriptions/subscription-terms';
import { type KeyToImport } from './import-line';

interface Subscription {
  readonly plan: string | null;
  /** Nothing is left to do for it, unless a line names a plan. */
  readonly isReady: boolean;
}

interface Offer {
  /** The plan's name as the catalogue writes it; null for base limits. */
  readonly plan: string | null;
  /** Whether the product needs a consent. */
  readonly asks: boolean;
}

/** A subscription that a batch creates. */
interface Opening {
  readonly customerId: string;
  readonly product: string;
  readonly plan: string | null;
}

/** Another program did the same meanwhile: the batch is repeated from its beginning. */
export class Contended extends Error {}

const ASKS = "SELECT definition ->> 'consent' IS NOT NULL AS asks FROM product WHERE id = $1";

const SUBSCRIPTIONS = `
SELECT s.customer_id AS "customerId", s.product_id AS product, CASE WHEN s.state <> 'cancelled' THEN s.plan_name END AS plan,
  s.state <> 'cancelled' AND p.definition ->> 'consent' IS NULL AS "isReady"
FROM subscription s JOIN product p ON p.id = s.product_id WHERE s.customer_id = ANY ($1) AND s.product_id = ANY ($2)`;

const MAKE_SUBSCRIPTIONS = `
INSERT INTO subscription (customer_id, product_id, plan_name) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
ON CONFLICT (customer_id, product_id) DO NOTHING RETURNING id, customer_id AS "customerId", product_id AS product, plan_name AS plan`;

const pairOf = (customer: string, product: string): string => `${customer} ${product}`;

/** Products and plans that lines name. Each is looked up once per import. */
export class ImportOffers {
  private readonly found = new Map<string, Offer | string>();

  /** Looks up what lines name that was not looked up before. */
  async read(client: PoolClient, lines: readonly KeyToImport[]): Promise<void> {
    for (const { products, plan = '' } of lines)
      for (const product of products) {
        const pair = pairOf(product, plan);
        if (!this.found.has(pair)) this.found.set(pair, await lookUp(client, product, plan));
      }
  }

  /** Why a line's product or plan is not available. */
  findUnsold({ products, plan = '' }: KeyToImport): string | undefined {
    const found = products.map((product) => this.found.get(pairOf(product, plan)));
    return found.find((each) => typeof each === 'string');
  }

  of({ plan = '' }: KeyToImport, product: string): Offer {
    const found = this.found.get(pairOf(product, plan));
    if (found === undefined || typeof found === 'string') throw new Error('a line was judged before its products');
    return found;
  }
}

async function lookUp(client: PoolClient, product: string, plan: string): Promise<Offer | string> {
  try {
    await requireSubscribable(client, product);
    const name = plan === '' ? null : await requirePlan(client, product, plan);
    const { rows } = await client.query<{ asks: boolean }>(ASKS, [product]);
    return { plan: name, asks: rows[0]?.asks === true };
  } catch (error) {
    if (error instanceof OperationRefused) return error.message;
    throw error;
  }
}

/** The subscriptions of a batch's customers, and what the batch adds to them. */
export class ImportSubscriptions {
  private readonly opening: Opening[] = [];

  private constructor(
    private readonly client: PoolClient,
    private readonly options: { readonly offers: ImportOffers; readonly actor: Actor },
    private readonly known: Map<string, Subscription>,
  ) {}

  static async read(
    client: PoolClient,
    wanted: { readonly customers: readonly string[]; readonly lines: readonly KeyToImport[] },
    options: { readonly offers: ImportOffers; readonly actor: Actor },
  ): Promise<ImportSubscriptions> {
    const products = [...new Set(wanted.lines.flatMap((line) => line.products))];
    const { rows } = await client.query<Subscription & { customerId: string; product: string }>(SUBSCRIPTIONS, [
      wanted.customers,
      products,
    ]);
    return new ImportSubscriptions(
      client,
      options,
      new Map(rows.map(({ customerId, product, ...each }) => [pairOf(customerId, product), each])),
    );
  }

  /** True if nothing needs to be opened for a line's key. This is the usual case, and needs no waiting. */
  isOpen(line: KeyToImport, customerId: string): boolean {
    return line.products.every((product) => {
      const { plan } = this.options.offers.of(line, product);
      const has = this.known.get(pairOf(customerId, product));
      return has?.isReady === true && (plan === null || plan === has.plan);
    });
  }

  /**
   * Opens what a line's key needs.
   * @returns the reason if that is not possible; then nothing was opened
   */
  async open(line: KeyToImport, customerId: string): Promise<string | undefined> {
    const wanted = line.products.map((product) => {
      const { plan, asks } = this.options.offers.of(line, product);
      return { customerId, product, plan, asks, has: this.known.get(pairOf(customerId, product)) };
    });
    for (const { product, plan, has } of wanted) {
      if (plan !== null && (has?.plan ?? plan) !== plan)
        return `the customer's subscription to "${product}" is on plan "${has?.plan ?? ''}", not "${plan}"`;
    }
    const missing = wanted.filter(({ has, plan }) => !has?.isReady || (plan !== null && has.plan === null));
    if (missing.length === 0) return undefined;
    const problem = await this.join(missing.filter(({ has, asks }) => has !== undefined || asks));
    if (problem !== undefined) return problem;
    for (const { product, plan, has, asks } of missing) {
      this.known.set(pairOf(customerId, product), { plan: plan ?? has?.plan ?? null, isReady: true });
      if (has === undefined && !asks) this.opening.push({ customerId, product, plan });
    }
    return undefined;
  }

  /** Subscribes existing customers, and customers of products that need a consent, by the usual operation. */
  private async join(wanted: readonly Opening[]): Promise<string | undefined> {
    if (wanted.length === 0) return undefined;
    await this.client.query('SAVEPOINT line');
    try {
      for (const { customerId, product, plan } of wanted) {
        const { actor } = this.options;
        await subscribe(this.client, { customerId, product, actor, whenSubscribed: 'join', ...(plan !== null && { plan }) });
      }
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      await this.client.query('ROLLBACK TO SAVEPOINT line');
      return error.message;
    }
    await this.client.query('RELEASE SAVEPOINT line');
    return undefined;
  }

  /**
   * Stores the new ones, all at once.
   * @throws Contended
   */
  async store(): Promise<void> {
    const { opening } = this;
    if (opening.length === 0) return;
    const columns = [opening.map(({ customerId }) => customerId), opening.map(({ product }) => product), opening.map(({ plan }) => plan)];
    const { rows } = await this.client.query<Opening & { id: string }>(MAKE_SUBSCRIPTIONS, columns);
    if (rows.length < opening.length) throw new Contended('somebody else subscribed a customer meanwhile');
    const made = rows.map(({ id, customerId, product, plan }) => {
      return { id, details: { product, plan, daily: null, monthly: null, rate: null }, customerId, label: product };
    });
    await writeAudits(this.client, { actor: this.options.actor, action: 'subscription.create', kind: 'subscription' }, made);
  }
}
