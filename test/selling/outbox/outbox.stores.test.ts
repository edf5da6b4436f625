import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { claim, enqueue, type OutboxItem, pruneOutbox, retry, settle } from '../../../services/selling/outbox/outbox';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { startMailing } from '../../dashboard/support/mailing';
import { eventually } from '../../support/eventually';
import { useDatabase } from '../../support/postgres/use-database';

const database = useDatabase();
const LEASE_MS = 60_000;
/** Two dashboards, with the rights that they have in production. */
let nodes: readonly Pool[];

beforeAll(() => void (nodes = [1, 2].map(() => createPool(database.urlAs('tollgate_dashboard'), { max: 4 }))));
beforeEach(() => database.pool.query('DELETE FROM outbox'));
afterAll(() => Promise.all(nodes.map((each) => each.end())));

const ask = (subjects: readonly string[], detail: 'issued' | 'paid' = 'issued') =>
  enqueue(database.pool, { kind: 'invoice', subjects, detail });
const take = (node = 0, leaseMs = LEASE_MS) => claim(nodes[node] ?? database.pool, { kind: 'invoice', leaseMs });
async function taken(node = 0): Promise<OutboxItem<'invoice'>> {
  const item = await take(node);
  if (!item) throw new Error('something was due');
  return item;
}
const pass = (interval: string) =>
  database.pool.query('UPDATE outbox SET due_at = due_at - $1::interval, asked_at = asked_at - $1::interval', [interval]);
const dueIn = async (): Promise<number | null> =>
  (await database.pool.query('SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM outbox')).rows[0].seconds;

describe('the outbox', () => {
  it('takes nothing of a transaction that did not commit', async () => {
    const failing = inTransaction(database.pool, async (client) => {
      await enqueue(client, { kind: 'invoice', subjects: [randomUUID()], detail: 'issued' });
      throw new Error('afterwards');
    });
    await expect(failing).rejects.toThrow('afterwards');
    expect(await take()).toBeUndefined();
  });

  it('gives each of many items to one of the nodes that claim at once', async () => {
    const subjects = Array.from({ length: 40 }, () => randomUUID());
    await ask(subjects);
    const claims = await Promise.all(Array.from({ length: 60 }, (_, place) => take(place % 2)));
    // A claim may find the item that it wanted taken; what it left is due still.
    const rest: (OutboxItem | undefined)[] = [];
    for (let item = await take(); item; item = await take()) rest.push(item);
    const all = [...claims, ...rest].flatMap((item) => (item ? [item.subject] : []));
    expect(all.sort()).toEqual(subjects.sort());
  });

  it('gives what is due for the longest time first, and of one time what was asked for first', async () => {
    const subjects = [randomUUID(), randomUUID(), randomUUID()];
    await ask(subjects.slice(0, 2));
    await ask(subjects.slice(2));
    await database.pool.query("UPDATE outbox SET due_at = due_at - interval '1 minute' WHERE subject = $1", [subjects[2]]);
    const order = [await taken(), await taken(), await taken()].map(({ subject }) => subject);
    expect(order).toEqual([subjects[2], subjects[0], subjects[1]]);
  });

  it('keeps kinds, and the news of one subject, apart, and says each once however often it is asked for', async () => {
    const id = randomUUID();
    await ask([id, id]);
    await ask([id], 'paid');
    await enqueue(database.pool, { kind: 'outage', subjects: [id], detail: 'began' });
    const items = [await taken(), await taken()];
    expect(items.map(({ detail }) => detail)).toEqual(['issued', 'paid']);
    for (const item of items) await settle(database.pool, item);
    await ask([id]);
    expect(await take()).toBeUndefined();
    expect(await claim(database.pool, { kind: 'outage', leaseMs: LEASE_MS })).toMatchObject({ subject: id, detail: 'began' });
  });

  it('gives an item to another node once the lease of one that died has ended, and lets the dead change nothing then', async () => {
    await ask([randomUUID()]);
    const lost = await taken(0);
    expect(await take(1)).toBeUndefined();
    await pass('1 minute');
    const again = await taken(1);
    expect([again.id, lost.attempts, again.attempts]).toEqual([lost.id, 1, 2]);
    expect([await settle(database.pool, lost), await retry(database.pool, lost, 0)]).toEqual([false, false]);
    expect(await dueIn()).toBeGreaterThan(30);
    expect(await settle(database.pool, again)).toBe(true);
    expect(await dueIn()).toBeNull();
  });

  it('waits as long as it was told to before the next attempt', async () => {
    await ask([randomUUID()]);
    expect(await retry(database.pool, await taken(), 600_000)).toBe(true);
    expect(await take()).toBeUndefined();
    await pass('9 minutes');
    expect(await take()).toBeUndefined();
    await pass('1 minute');
    expect(await taken()).toMatchObject({ attempts: 2, isStale: false });
  });

  it('keeps due what was asked for again while it was under way', async () => {
    await ask([randomUUID()]);
    const item = await taken();
    await database.pool.query('UPDATE outbox SET asked_at = clock_timestamp()');
    expect(await settle(database.pool, item)).toBe(true);
    expect(await dueIn()).toBeGreaterThan(0);
  });

  it('forgets after 92 days what was sent, and nothing that waits', async () => {
    await ask([randomUUID(), randomUUID()]);
    await settle(database.pool, await taken());
    await pass('91 days');
    await pruneOutbox(database.pool);
    expect((await database.pool.query('SELECT FROM outbox')).rowCount).toBe(2);
    await pass('2 days');
    await pruneOutbox(database.pool);
    expect((await database.pool.query('SELECT FROM outbox WHERE due_at IS NOT NULL')).rowCount).toBe(1);
    expect((await database.pool.query('SELECT FROM outbox')).rowCount).toBe(1);
  });
});

describe('mails of the outbox', () => {
  const closing: { close(): Promise<void> }[] = [];
  afterEach(async () => void (await Promise.all(closing.splice(0).map((each) => each.close()))));

  /** A node that mails invoices to an address that names them. */
  function node(send: (mail: Mail) => Promise<void>, addressOf = (id: string) => `${id}@example.com`) {
    const invoice = async ({ subject, detail }: OutboxItem<'invoice'>) => ({
      mails: [{ to: addressOf(subject), subject: detail, text: '' }],
    });
    const mails = startMailing(nodes[closing.length % 2] ?? database.pool, { send, write: { invoice }, everyMs: 20 });
    closing.push(mails);
    return mails;
  }

  it('go once each, with several nodes at work', async () => {
    const subjects = Array.from({ length: 30 }, () => randomUUID());
    const sent: string[] = [];
    const send = async ({ to }: Mail): Promise<void> => void sent.push(to);
    await ask(subjects);
    await Promise.all([node(send).look(), node(send).look()]);
    await eventually(() => sent.length >= 30);
    expect(sent.sort()).toEqual(subjects.map((id) => `${id}@example.com`).sort());
  });

  it('go again after the lease when a node ended between sending and settling: twice rather than never', async () => {
    const sent: string[] = [];
    await ask([randomUUID()]);
    // It sent the mail, and was killed.
    await taken();
    const mails = node(async ({ to }) => void sent.push(to));
    await mails.look();
    expect(sent).toEqual([]);
    await pass('5 minutes');
    await mails.look();
    expect(sent).toHaveLength(1);
    expect(await dueIn()).toBeNull();
  });

  it('hold up no others when one cannot be sent, which is tried again in 5 minutes', async () => {
    const [bad = '', ...good] = [randomUUID(), randomUUID(), randomUUID()];
    const sent: string[] = [];
    await ask([bad, ...good]);
    const mails = node(async ({ to }) => {
      if (to.startsWith(bad)) throw new Error('refused');
      sent.push(to.slice(0, 36));
    });
    await eventually(() => sent.length === 2);
    await mails.look();
    expect(sent).toEqual(good);
    const { rows } = await database.pool.query('SELECT subject FROM outbox WHERE due_at > now() + $1::interval', ['4 minutes']);
    expect(rows).toEqual([{ subject: bad }]);
  });

  it('are dropped when they could not be sent for 7 days, and when the account is gone', async () => {
    const sent: string[] = [];
    const send = async ({ to }: Mail): Promise<void> => void sent.push(to);
    await ask([randomUUID()]);
    await pass('8 days');
    const usual = node(send);
    await usual.look();
    await usual.close();
    await ask([randomUUID()]);
    await node(send, () => 'deleted-1@deleted.invalid').look();
    expect(sent).toEqual([]);
    expect((await database.pool.query('SELECT FROM outbox WHERE due_at IS NOT NULL')).rowCount).toBe(0);
  });
});
