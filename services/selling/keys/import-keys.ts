import { type Pool, type PoolClient } from 'pg';
import { MAX_RULES } from '../../../plugins/core/access/max-rules';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { type Actor } from '../customers/write-audit';
import { findOverLimit, type ImportAccount, lockCustomers, makeCustomers, readAccounts } from './import-accounts';
import { type KeyToImport, type RefusedLine } from './import-line';
import { MAX_BATCH } from './import-members';
import { Contended, ImportOffers, ImportSubscriptions } from './import-subscriptions';
import { type AcceptedKey, storeImportedKeys } from './store-imported-keys';

export interface ImportResult {
  readonly imported: number;
  /** Keys that the customer has already, from this import or an earlier one. */
  readonly known: number;
  readonly refused: readonly RefusedLine[];
}

/** Maximum rules of one transaction, which are one statement. */
const MAX_BATCH_RULES = 20 * MAX_RULES;
/** Lines to pass to {@link KeyImport.addAll} at once: enough that a customer's lines come together, and few enough for memory. */
export const IMPORT_WINDOW = 32 * MAX_BATCH;
/** Batches stored at the same time: one more than keep two processors busy, because preparing a batch takes time. */
export const IMPORT_LANES = 3;

const MAX_TRIES = 3;
/** SQLSTATE of temporary errors: unique_violation (another import stored the same key), deadlock_detected. */
const CONTENTION = ['23505', '40P01'];

const TAKEN = 'another customer has the key already';

/**
 * From an array, whose length the planner does not see: otherwise it would scan a small table for each batch of an import that fills it.
 */
const OWNERS = `
SELECT encode(hash, 'hex') AS hash, customer_id AS customer FROM credential
WHERE hash = ANY (ARRAY(SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash))`;

/** Thrown to roll a trial back; it carries the trial's result. */
class Trial extends Error {
  constructor(readonly result: BatchResult) {
    super('a trial changes nothing');
  }
}

interface BatchResult {
  readonly accepted: readonly AcceptedKey[];
  readonly refused: readonly RefusedLine[];
}

interface Batch {
  readonly lines: readonly KeyToImport[];
  /** Customers by the address as the lines write it. */
  readonly ids: ReadonlyMap<string, string>;
  /** Owners of the stored keys, by the keys' hashes. */
  readonly owners: Map<string, string>;
}

const emailOf = ({ customer }: KeyToImport): string => customer.toLowerCase();

/**
 * Imports keys batch by batch, each in one transaction: a batch is stored whole, without refused lines, or not at all. Keys that are stored
 * already are left as they are, so a file may be imported again from its beginning.
 */
export class KeyImport {
  /** In a trial, what earlier batches would have stored: the keys' owners by hash, and what the customers would have more. */
  private readonly tried = { owners: new Map<string, string>(), use: new Map<string, { keys: number; rules: number }>() };
  private readonly offers = new ImportOffers();

  /** @param options.isTrial each batch is judged as if it were imported, and rolled back */
  constructor(
    private readonly db: Pool,
    private readonly options: { readonly actor: Actor; readonly isTrial: boolean },
  ) {}

  /** Imports any number of lines, each customer's in order, in batches of which some are stored at the same time. */
  async addAll(lines: readonly KeyToImport[]): Promise<ImportResult> {
    const { now, later } = splitAtFirsts(lines);
    const lanes = await Promise.allSettled(lanesOf(now).map((lane) => this.addInOrder(lane)));
    const failed = lanes.find((lane) => lane.status === 'rejected');
    if (failed) throw failed.reason;
    return sumOf([...lanes.flatMap((lane) => (lane.status === 'fulfilled' ? [lane.value] : [])), await this.addInOrder(later)]);
  }

  private async addInOrder(lines: readonly KeyToImport[]): Promise<ImportResult> {
    const results: ImportResult[] = [];
    for (const batch of batchesOf(lines)) results.push(await this.add(batch));
    return sumOf(results);
  }

  /** Imports lines in one transaction. */
  async add(lines: readonly KeyToImport[]): Promise<ImportResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        const { accepted, refused } = await this.tryBatch(lines);
        return { imported: accepted.length, known: lines.length - accepted.length - refused.length, refused };
      } catch (error) {
        if (tries >= MAX_TRIES || !isContention(error)) throw error;
      }
    }
  }

  private async tryBatch(lines: readonly KeyToImport[]): Promise<BatchResult> {
    try {
      return await inTransaction(this.db, async (client) => {
        const result = await this.store(client, lines);
        if (this.options.isTrial) throw new Trial(result);
        return result;
      });
    } catch (error) {
      if (!(error instanceof Trial)) throw error;
      for (const line of error.result.accepted) this.noteTried(line);
      return error.result;
    }
  }

  private noteTried(line: AcceptedKey): void {
    const email = emailOf(line);
    this.tried.owners.set(line.hash, email);
    const used = this.tried.use.get(email) ?? { keys: 0, rules: 0 };
    this.tried.use.set(email, { keys: used.keys + 1, rules: used.rules + line.rules.length });
  }

  private async store(client: PoolClient, lines: readonly KeyToImport[]): Promise<BatchResult> {
    const { now, later } = splitAtFirsts(lines);
    const first = await this.storeFirsts(client, now);
    if (later.length === 0) return first;
    const second = await this.storeFirsts(client, later);
    return { accepted: [...first.accepted, ...second.accepted], refused: [...first.refused, ...second.refused] };
  }

  private async storeFirsts(client: PoolClient, lines: readonly KeyToImport[]): Promise<BatchResult> {
    const { actor } = this.options;
    const refused: RefusedLine[] = [];
    const sold: KeyToImport[] = [];
    await this.offers.read(client, lines);
    for (const each of lines) {
      const problem = this.offers.findUnsold(each);
      if (problem === undefined) sold.push(each);
      else refused.push({ line: each.line, reason: problem });
    }
    const batch = await this.open(client, sold);
    const accounts = await this.readAccounts(client, batch);
    const wanted = { customers: [...accounts.keys()], lines: sold };
    const subscriptions = await ImportSubscriptions.read(client, wanted, { offers: this.offers, actor });
    const accepted: AcceptedKey[] = [];
    for (const line of sold) {
      const owner = this.findOwner(line, batch);
      if (owner === 'customer') continue;
      const account = accounts.get(batch.ids.get(line.customer) ?? '');
      let problem = owner === 'other' || !account ? TAKEN : findOverLimit(account, line);
      if (account && problem === undefined && !subscriptions.isOpen(line, account.id)) problem = await subscriptions.open(line, account.id);
      if (problem !== undefined || !account) {
        refused.push({ line: line.line, reason: problem ?? TAKEN });
        continue;
      }
      accepted.push({ ...line, customerId: account.id });
      batch.owners.set(line.hash, account.id);
      account.keys += 1;
      account.rules += line.rules.length;
    }
    await subscriptions.store();
    await storeImportedKeys(client, accepted, actor);
    return { accepted, refused };
  }

  /** Locks the customers of lines, makes missing ones, and finds which keys are stored. */
  private async open(client: PoolClient, lines: readonly KeyToImport[]): Promise<Batch> {
    const ids = await lockCustomers(client, lines);
    const owners = await readOwners(client, lines);
    const missing = lines.filter(({ hash, customer }) => !ids.has(customer) && !owners.has(hash));
    if (missing.length === 0) return { lines, ids, owners };
    await makeCustomers(client, missing, this.options.actor);
    const made = await lockCustomers(client, missing);
    // Read again: another import may have made a customer meanwhile, with keys.
    return { lines, ids: new Map([...ids, ...made]), owners: await readOwners(client, lines) };
  }

  private async readAccounts(client: PoolClient, { lines, ids }: Batch): Promise<Map<string, ImportAccount>> {
    const accounts = await readAccounts(client, lines, ids);
    if (this.tried.use.size === 0) return accounts;
    // Two lines may write one address in different cases.
    for (const [id, email] of new Map([...ids].map(([written, id]) => [id, written.toLowerCase()]))) {
      const [account, tried] = [accounts.get(id), this.tried.use.get(email)];
      if (account && tried) accounts.set(id, { ...account, keys: account.keys + tried.keys, rules: account.rules + tried.rules });
    }
    return accounts;
  }

  private findOwner(line: KeyToImport, { ids, owners }: Batch): 'customer' | 'other' | undefined {
    const stored = owners.get(line.hash);
    if (stored !== undefined) return stored === ids.get(line.customer) ? 'customer' : 'other';
    const tried = this.tried.owners.get(line.hash);
    if (tried === undefined) return undefined;
    return tried === emailOf(line) ? 'customer' : 'other';
  }
}

async function readOwners(client: PoolClient, lines: readonly KeyToImport[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ hash: string; customer: string }>(OWNERS, [lines.map(({ hash }) => hash)]);
  return new Map(rows.map(({ hash, customer }) => [hash, customer]));
}

function isContention(error: unknown): boolean {
  return error instanceof Contended || (error instanceof Error && CONTENTION.includes(String(Reflect.get(error, 'code'))));
}

function* batchesOf(lines: readonly KeyToImport[]): Generator<readonly KeyToImport[]> {
  let batch: KeyToImport[] = [];
  let rules = 0;
  for (const line of lines) {
    batch.push(line);
    rules += line.rules.length;
    if (batch.length < MAX_BATCH && rules < MAX_BATCH_RULES) continue;
    yield batch;
    [batch, rules] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** The line of a customer's first key goes first: those of other customers wait until it is stored, or refused. */
function splitAtFirsts(lines: readonly KeyToImport[]): { readonly now: readonly KeyToImport[]; readonly later: readonly KeyToImport[] } {
  const firsts = new Map<string, string>();
  const later: KeyToImport[] = [];
  const now = lines.filter((line) => {
    const first = firsts.get(line.hash) ?? emailOf(line);
    firsts.set(line.hash, first);
    if (first !== emailOf(line)) later.push(line);
    return first === emailOf(line);
  });
  return { now, later };
}

/** Divides the lines by customer, so that rows and index pages are written together. No two lanes share a customer. */
function lanesOf(lines: readonly KeyToImport[]): readonly KeyToImport[][] {
  const named = lines.map((line) => ({ line, email: emailOf(line) })).sort((a, b) => (a.email < b.email ? -1 : a.email > b.email ? 1 : 0));
  const lanes: KeyToImport[][] = [];
  named.forEach(({ line, email }, index) => {
    const lane = lanes.at(-1);
    const isFull = lane && lane.length >= named.length / IMPORT_LANES && email !== named[index - 1]?.email;
    if (!lane || isFull) lanes.push([line]);
    else lane.push(line);
  });
  return lanes;
}

function sumOf(results: readonly ImportResult[]): ImportResult {
  return {
    imported: results.reduce((sum, { imported }) => sum + imported, 0),
    known: results.reduce((sum, { known }) => sum + known, 0),
    refused: results.flatMap(({ refused }) => refused),
  };
}
