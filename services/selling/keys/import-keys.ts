import { randomUUID } from 'node:crypto';
import { type Pool, type PoolClient } from 'pg';
import { type KeyDisplay } from '../../../plugins/core/access/api-key';
import { type WhitelistRule } from '../../../plugins/core/access/whitelist';
import { type KeyMode } from '../../../plugins/core/ports';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { DEFAULT_LIMITS } from '../customers/customer-limits';
import { type Actor, type FullAuditEntry, writeAudits } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';
import { subscribe } from '../subscriptions/subscribe';
import { requirePlan, requireSubscribable } from '../subscriptions/subscription-terms';
import { auditRules } from './audit-rules';

/** A key that another system made, from one line of a file. */
export interface KeyToImport {
  readonly line: number;
  /** SHA-256, 64 lower-case hex digits. */
  readonly hash: string;
  readonly display: KeyDisplay;
  readonly mode: KeyMode;
  /** E-mail address. A customer that does not exist is made. */
  readonly customer: string;
  /** What a customer that is made calls itself. */
  readonly customerName: string | null;
  readonly name: string | null;
  /** At least one, each once. */
  readonly products: readonly string[];
  /** Of subscriptions that are made. */
  readonly plan: string | undefined;
  readonly expiresAt: Date | null;
  readonly rules: readonly WhitelistRule[];
  readonly tags: readonly string[];
}

export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

export interface ImportResult {
  readonly imported: number;
  /** Keys that were stored already, by this import or before it. */
  readonly known: number;
  readonly refused: readonly RefusedLine[];
}

/** Thrown to take a trial back; it carries what the trial came to. */
class Trial extends Error {
  constructor(readonly accepted: readonly Accepted[]) {
    super('a trial changes nothing');
  }
}

interface Accepted extends KeyToImport {
  readonly id: string;
  readonly customerId: string;
}

/** What a customer has, and may have, while lines are judged one after the other. */
interface Account {
  readonly id: string;
  readonly mostKeys: number;
  readonly mostRules: number;
  keys: number;
  rules: number;
}

interface Judged {
  readonly account: Account;
  readonly line: KeyToImport;
}

interface Subscription {
  readonly plan: string | null;
  /** Nothing is left to do for it. */
  readonly isReady: boolean;
}

/** A subscription that a batch makes, or joins. */
interface Opening {
  readonly customerId: string;
  readonly product: string;
  readonly plan: string | null;
}

const KNOWN = `
SELECT encode(hash, 'hex') AS hash FROM credential WHERE hash IN (SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash)`;

const MAKE_CUSTOMERS = `
INSERT INTO customer (email, display_name) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT ((lower(email))) DO NOTHING RETURNING id, email`;

/** In order, and locked as by requireRoom: two imports of the same customers come one after the other. */
const LOCK_CUSTOMERS = 'SELECT 1 FROM customer WHERE lower(email) = ANY ($1) ORDER BY id FOR NO KEY UPDATE';

const ACCOUNTS = `
SELECT c.id, lower(c.email) AS email, COALESCE(l.keys, $2) AS "mostKeys", COALESCE(l.rules, $3) AS "mostRules", used.keys, used.rules
FROM customer c LEFT JOIN customer_limit l ON l.customer_id = c.id
CROSS JOIN LATERAL (
  SELECT count(*)::integer AS keys,
    COALESCE(sum((SELECT count(*) FROM whitelist_rule r WHERE r.credential_id = k.id)), 0)::integer AS rules
  FROM credential k WHERE k.customer_id = c.id AND k.state <> 'revoked'
) AS used
WHERE lower(c.email) = ANY ($1)`;

/** One that is cancelled, or whose product asks for a consent, is left to subscribe. */
const SUBSCRIPTIONS = `
SELECT s.customer_id AS "customerId", s.product_id AS product, s.plan_name AS plan,
  s.state <> 'cancelled' AND p.definition ->> 'consent' IS NULL AS "isReady", s.state = 'cancelled' AS "isCancelled"
FROM subscription s JOIN product p ON p.id = s.product_id WHERE s.customer_id = ANY ($1) AND s.product_id = ANY ($2)`;

const MAKE_SUBSCRIPTIONS = `
INSERT INTO subscription (customer_id, product_id, plan_name) SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[])
ON CONFLICT (customer_id, product_id) DO NOTHING RETURNING id, customer_id AS "customerId", product_id AS product, plan_name AS plan`;

const ASKING = "SELECT id FROM product WHERE definition ->> 'consent' IS NOT NULL AND id = ANY ($1)";

const STORE_KEYS = `
INSERT INTO credential (id, customer_id, hash, prefix, last_four, mode, name, planned_expires_at)
SELECT k.id, k.customer, decode(k.hash, 'hex'), k.prefix, k.last_four, k.mode, k.name, k.expires_at
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[])
  AS k (id, customer, hash, prefix, last_four, mode, name, expires_at)`;

const pairOf = (customer: string, product: string): string => `${customer} ${product}`;

/**
 * Imports keys batch by batch, each in one transaction: a batch is stored whole, without the lines that are refused, or not at all. Keys that
 * are stored already are left as they are, so that a file may be imported again from its beginning.
 */
export class KeyImport {
  /** Of a trial: what batches before would have stored. */
  private readonly tried = { hashes: new Set<string>(), accounts: new Map<string, { keys: number; rules: number }>() };
  private readonly plans = new Map<string, string | OperationRefused>();

  /** @param options.isTrial each batch is judged as if it were imported, and taken back */
  constructor(
    private readonly db: Pool,
    private readonly options: { readonly actor: Actor; readonly isTrial: boolean },
  ) {}

  async add(batch: readonly KeyToImport[]): Promise<ImportResult> {
    const refused: RefusedLine[] = [];
    try {
      const accepted = await inTransaction(this.db, async (client) => {
        refused.length = 0;
        const stored = await this.store(client, await this.unknownOf(client, batch), refused);
        if (this.options.isTrial) throw new Trial(stored);
        return stored;
      });
      return { imported: accepted.length, known: batch.length - accepted.length - refused.length, refused };
    } catch (error) {
      if (!(error instanceof Trial)) throw error;
      this.note(error.accepted);
      return { imported: error.accepted.length, known: batch.length - error.accepted.length - refused.length, refused };
    }
  }

  private note(accepted: readonly Accepted[]): void {
    for (const { hash, customer, rules } of accepted) {
      this.tried.hashes.add(hash);
      const email = customer.toLowerCase();
      const used = this.tried.accounts.get(email) ?? { keys: 0, rules: 0 };
      this.tried.accounts.set(email, { keys: used.keys + 1, rules: used.rules + rules.length });
    }
  }

  /** Keys that are not stored yet, each once. */
  private async unknownOf(client: PoolClient, batch: readonly KeyToImport[]): Promise<KeyToImport[]> {
    const { rows } = await client.query<{ hash: string }>(KNOWN, [batch.map(({ hash }) => hash)]);
    const known = new Set(rows.map(({ hash }) => hash));
    return batch.filter(({ hash }) => {
      if (known.has(hash) || this.tried.hashes.has(hash)) return false;
      known.add(hash);
      return true;
    });
  }

  private async store(client: PoolClient, lines: readonly KeyToImport[], refused: RefusedLine[]): Promise<Accepted[]> {
    const sold: KeyToImport[] = [];
    for (const each of lines) {
      const problem = await this.findUnsold(client, each);
      if (problem === undefined) sold.push(each);
      else refused.push({ line: each.line, reason: problem });
    }
    const accounts = await this.openAccounts(client, sold);
    const known = await readSubscriptions(client, { accounts, lines: sold });
    const open = new Map<string, Opening>();
    const accepted: Accepted[] = [];
    // Asked again under the lock: the same file may be imported twice at once.
    for (const line of await this.unknownOf(client, sold)) {
      const account = accounts.get(line.customer.toLowerCase());
      if (!account) throw new Error('a customer vanished during an import');
      const problem = findOverLimit(account, line) ?? this.findOtherPlan(known, { account, line });
      if (problem !== undefined) {
        refused.push({ line: line.line, reason: problem });
        continue;
      }
      accepted.push({ ...line, id: randomUUID(), customerId: account.id });
      account.keys += 1;
      account.rules += line.rules.length;
      this.planSubscriptions(known, open, { account, line });
    }
    await this.openSubscriptions(client, [...open.values()]);
    await this.storeKeys(client, accepted);
    return accepted;
  }

  /** The plan's name as the catalogue writes it; null for base limits. */
  private planOf({ plan }: KeyToImport, product: string): string | null {
    const found = plan === undefined ? null : this.plans.get(pairOf(product, plan));
    return typeof found === 'string' ? found : null;
  }

  /** Why a product or plan of a line cannot be had. Each is looked up once. */
  private async findUnsold(client: PoolClient, { products, plan = '' }: KeyToImport): Promise<string | undefined> {
    for (const product of products) {
      const pair = pairOf(product, plan);
      let found = this.plans.get(pair);
      if (found === undefined) {
        found = await requireSubscribable(client, product)
          .then(() => (plan === '' ? '' : requirePlan(client, product, plan)))
          .catch((error: unknown) => {
            if (error instanceof OperationRefused) return error;
            throw error;
          });
        this.plans.set(pair, found);
      }
      if (found instanceof OperationRefused) return found.message;
    }
    return undefined;
  }

  private async openAccounts(client: PoolClient, lines: readonly KeyToImport[]): Promise<Map<string, Account>> {
    const wanted = new Map(lines.map((each) => [each.customer.toLowerCase(), each] as const));
    // In order: two imports that make the same customers wait for one another once.
    const emails = [...wanted.keys()].sort();
    const { actor } = this.options;
    const made = await client.query<{ id: string; email: string }>(MAKE_CUSTOMERS, [
      emails.map((email) => wanted.get(email)?.customer),
      emails.map((email) => wanted.get(email)?.customerName),
    ]);
    const audited = made.rows.map(({ id, email }): FullAuditEntry => {
      return { actor, action: 'customer.create', subject: { kind: 'customer', id }, details: { email }, customerId: id, label: null };
    });
    await writeAudits(client, audited);
    await client.query(LOCK_CUSTOMERS, [emails]);
    const { rows } = await client.query<Account & { email: string }>(ACCOUNTS, [emails, DEFAULT_LIMITS.keys, DEFAULT_LIMITS.rules]);
    return new Map(
      rows.map(({ email, ...account }) => {
        const tried = this.tried.accounts.get(email) ?? { keys: 0, rules: 0 };
        return [email, { ...account, keys: account.keys + tried.keys, rules: account.rules + tried.rules }];
      }),
    );
  }

  private findOtherPlan(known: ReadonlyMap<string, Subscription>, { account, line }: Judged): string | undefined {
    for (const product of line.products) {
      const plan = this.planOf(line, product);
      const has = known.get(pairOf(account.id, product))?.plan ?? null;
      if (plan !== null && has !== null && plan !== has)
        return `the customer's subscription to "${product}" is on plan "${has}", not "${plan}"`;
    }
    return undefined;
  }

  /** Adds what a line needs to what is opened at the end of its batch. */
  private planSubscriptions(known: Map<string, Subscription>, open: Map<string, Opening>, { account, line }: Judged): void {
    for (const product of line.products) {
      const pair = pairOf(account.id, product);
      const plan = this.planOf(line, product);
      const has = known.get(pair);
      if (has?.isReady && (plan === null || has.plan !== null)) continue;
      known.set(pair, { plan: plan ?? has?.plan ?? null, isReady: true });
      open.set(pair, { customerId: account.id, product, plan });
    }
  }

  /** New ones all at once; those that exist, or whose products ask for a consent, by the operation that everybody else uses. */
  private async openSubscriptions(client: PoolClient, open: readonly Opening[]): Promise<void> {
    if (open.length === 0) return;
    const { actor } = this.options;
    const { rows: asking } = await client.query<{ id: string }>(ASKING, [open.map(({ product }) => product)]);
    const asks = new Set(asking.map(({ id }) => id));
    const plain = open.filter(({ product }) => !asks.has(product));
    const made = await client.query<Opening & { id: string }>(MAKE_SUBSCRIPTIONS, [
      plain.map(({ customerId }) => customerId),
      plain.map(({ product }) => product),
      plain.map(({ plan }) => plan),
    ]);
    const audited = made.rows.map(({ id, customerId, product, plan }): FullAuditEntry => {
      const details = { product, plan, daily: null, monthly: null, rate: null };
      return { actor, action: 'subscription.create', subject: { kind: 'subscription', id }, details, customerId, label: product };
    });
    await writeAudits(client, audited);
    const isMade = new Set(made.rows.map(({ customerId, product }) => pairOf(customerId, product)));
    for (const { customerId, product, plan } of open) {
      if (isMade.has(pairOf(customerId, product))) continue;
      await subscribe(client, { customerId, product, actor, whenSubscribed: 'join', ...(plan !== null && { plan }) });
    }
  }

  private async storeKeys(client: PoolClient, keys: readonly Accepted[]): Promise<void> {
    if (keys.length === 0) return;
    await client.query(STORE_KEYS, [
      keys.map(({ id }) => id),
      keys.map(({ customerId }) => customerId),
      keys.map(({ hash }) => hash),
      keys.map(({ display }) => display.prefix),
      keys.map(({ display }) => display.lastFour),
      keys.map(({ mode }) => mode),
      keys.map(({ name }) => name),
      keys.map(({ expiresAt }) => expiresAt),
    ]);
    await insertParts(client, 'credential_product (credential_id, product_id)', keys, ({ products }) => products.map((id) => [id]));
    await insertParts(client, 'credential_tag (credential_id, tag)', keys, ({ tags }) => tags.map((tag) => [tag]));
    await insertParts(client, 'whitelist_rule (credential_id, kind, rule)', keys, ({ rules }) =>
      rules.map(({ kind, text }) => [kind, text]),
    );
    await writeAudits(
      client,
      keys.map(({ id, customerId, display, mode, name, expiresAt, products, tags, rules }): FullAuditEntry => {
        const texts = rules.map(({ text }) => text);
        const facts = { customer: customerId, mode, name, expiresAt, products, tags };
        const details = { ...facts, ...auditRules({ rules: texts }, texts), rotatedFrom: null };
        const subject = { kind: 'credential', id } as const;
        const label = `${display.prefix}…${display.lastFour}`;
        return { actor: this.options.actor, action: 'key.import', subject, details, customerId, label };
      }),
    );
  }
}

function findOverLimit({ mostKeys, mostRules, keys, rules }: Account, line: KeyToImport): string | undefined {
  if (keys >= mostKeys) return `a customer can have at most ${mostKeys} keys; npx tollgate customer limits raises that`;
  if (rules + line.rules.length > mostRules && line.rules.length > 0)
    return `all keys together can have at most ${mostRules} whitelist rules`;
  return undefined;
}

async function readSubscriptions(
  client: PoolClient,
  { accounts, lines }: { accounts: ReadonlyMap<string, Account>; lines: readonly KeyToImport[] },
): Promise<Map<string, Subscription>> {
  const customers = [...accounts.values()].map(({ id }) => id);
  const products = [...new Set(lines.flatMap((line) => line.products))];
  const { rows } = await client.query<Subscription & { customerId: string; product: string; isCancelled: boolean }>(SUBSCRIPTIONS, [
    customers,
    products,
  ]);
  const wanted = new Set(
    lines.flatMap((line) => line.products.map((id) => pairOf(accounts.get(line.customer.toLowerCase())?.id ?? '', id))),
  );
  return new Map(
    rows.flatMap(({ customerId, product, plan, isReady, isCancelled }) => {
      const pair = pairOf(customerId, product);
      // A cancelled one comes back on the terms of the line.
      return wanted.has(pair) && !isCancelled ? [[pair, { plan, isReady }]] : [];
    }),
  );
}

/** Inserts what belongs to keys, all at once. */
async function insertParts(
  client: PoolClient,
  into: string,
  keys: readonly Accepted[],
  partsOf: (key: Accepted) => readonly (readonly string[])[],
): Promise<void> {
  const rows = keys.flatMap((key) => partsOf(key).map((part) => [key.id, ...part]));
  const [first] = rows;
  if (!first) return;
  const columns = first.map((_, column) => rows.map((row) => row[column]));
  const types = first.map((_, column) => `$${column + 1}::${column === 0 ? 'uuid' : 'text'}[]`);
  await client.query(`INSERT INTO ${into} SELECT * FROM unnest(${types.join(', ')})`, columns);
}
