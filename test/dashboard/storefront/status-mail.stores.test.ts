import { type LightMyRequestResponse } from 'fastify';
import { type Pool } from 'pg';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { watchOutages } from '../../../services/selling/outages/watch-outages';
import { sweepStatusSubscriptions } from '../../../services/selling/outages/status-subscriptions';
import { createStatusLinks } from '../../../services/dashboard/storefront/status-links';
import { statusMailsBy } from '../../../services/dashboard/storefront/status-mails';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { newKey } from '../../contracts/access-records';
import { PRODUCTS } from '../../support/catalogue';
import { openedForTests } from '../../support/opened';
import { linkOf, ORIGIN, startDashboard, useDashboard } from '../support/dashboard';
import { startMailing } from '../support/mailing';

const timeZone = 'Asia/Kolkata';
const opened = openedForTests();
const dashboard = useDashboard({}, true);
/** The mailing of two processes. */
let work: readonly ReturnType<typeof startMailing>[];
let other: Pool;
let mails: Mail[];
/** Whether the mail server takes no mail; and how many it was handed. */
let refuses: boolean;
let tried: number;

/** Sends a form, as a browser does from a page of ours. */
const post = (path: string, fields: Record<string, string> = {}, { from = '198.51.100.7', origin = ORIGIN } = {}) =>
  dashboard.app.inject({
    ...{ method: 'POST', url: path, remoteAddress: from, payload: new URLSearchParams(fields).toString() },
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...(origin !== '' && { origin }) },
  });
const wish = (email: string, product = '', from?: string): Promise<LightMyRequestResponse> =>
  post('/status-mail', { email, product }, from === undefined ? {} : { from });

/** What both processes mail now. */
async function mailed(): Promise<Mail[]> {
  mails.length = 0;
  await Promise.all(work.map((each) => each.look()));
  return [...mails];
}
const told = (sent: readonly Mail[]): string[] => sent.map(({ to, subject }) => `${to}: ${subject}`).sort();

async function subscribe(email: string, product = ''): Promise<void> {
  await wish(email, product, '203.0.113.9');
  const [mail] = await mailed();
  expect((await post(linkOf(mail))).body).toContain('You get mail about outages');
}

const rows = async (): Promise<{ email: string; product: string | null; confirmed: boolean }[]> =>
  (
    await dashboard.pool.query(
      'SELECT email, product_id AS product, confirmed_at IS NOT NULL AS confirmed FROM status_subscription ORDER BY email, product_id NULLS FIRST',
    )
  ).rows;

beforeAll(async () => {
  other = await opened.keep(Promise.resolve(createPool(dashboard.databaseUrl, { max: 2 })));
  const write = { status: statusMailsBy(createStatusLinks({ secret: dashboard.secret, url: ORIGIN })) };
  const send = (mail: Mail): void => {
    tried += 1;
    if (refuses) throw new Error('no mailbox');
    mails.push(mail);
  };
  const starting = [dashboard.db, other].map((db) => startMailing(db, { send, write, everyMs: 3_600_000 }));
  work = await opened.keep(Promise.resolve(starting), (all) => Promise.all(all.map((each) => each.close())));
});
beforeEach(() => {
  [mails, refuses, tried] = [[], false, 0];
});

describe('somebody who asks for mail', () => {
  it('is asked to confirm, by a link whose page changes nothing until its button is pressed', async () => {
    const page = (await dashboard.ask({ path: '/status' })).body;
    expect(page).toContain('<form class="find ask" action="/status-mail" method="post">');
    for (const { id, prefix } of PRODUCTS) expect(page.includes(`<option value="${id}">`)).toBe(prefix !== null);
    expect((await wish('Asha@Example.com', 'api-ip')).body).toContain('An email is on its way to asha@example.com');
    const [mail] = await mailed();
    expect(mail).toMatchObject({ to: 'asha@example.com', subject: 'Confirm that you want mail about outages' });
    expect(mail?.text).toContain('when IP lookup fails');
    expect((await dashboard.ask({ path: linkOf(mail) })).body).toContain('Mail to asha@example.com when IP lookup fails');
    expect(await rows()).toEqual([{ email: 'asha@example.com', product: 'api-ip', confirmed: false }]);
    expect((await post(linkOf(mail), {}, { origin: 'https://elsewhere.example' })).statusCode).toBe(403);
    expect((await post(linkOf(mail))).statusCode).toBe(200);
    expect(await rows()).toMatchObject([{ confirmed: true }]);
    expect(dashboard.log()).not.toMatch(/asha@|token=/i);
  });

  it('gets the same answer for an address that has the mail already, whose reader is told', async () => {
    await subscribe('asha@example.com');
    const [known, unknown] = [await wish('asha@example.com'), await wish('nila@example.com')];
    expect(known.body.replaceAll('asha', '')).toBe(unknown.body.replaceAll('nila', ''));
    expect(told(await mailed())).toEqual([
      'asha@example.com: You already get mail about outages',
      'nila@example.com: Confirm that you want mail about outages',
    ]);
    expect(await rows()).toMatchObject([{ confirmed: true }, { confirmed: false }]);
  });

  it('has no more than five mails a day sent to one mailbox, from wherever, and the answer does not change', async () => {
    const spellings = ['asha@gmail.com', 'a.sha@gmail.com', 'asha+x@gmail.com', 'ASHA@googlemail.com'];
    for (let place = 0; place < 8; place += 1) {
      const { statusCode, body } = await wish(spellings[place % 4] ?? '', '', `198.51.100.${place}`);
      expect([statusCode, body.includes('An email is on its way')]).toEqual([200, true]);
    }
    expect(await mailed()).toHaveLength(5);
  });

  it('is told to come back in an hour after twenty wishes from one network', async () => {
    for (let place = 0; place < 20; place += 1) expect((await wish(`reader${place}@example.com`)).statusCode).toBe(200);
    const busy = await wish('reader20@example.com');
    expect([busy.statusCode, Number(busy.headers['retry-after']) > 3_000]).toEqual([429, true]);
    expect(busy.body).toContain('href="/status.xml"');
    expect((await wish('reader20@example.com', '', '203.0.113.1')).statusCode).toBe(200);
  });

  it.each([
    [{ email: 'nobody', product: '' }, 'Enter an email address'],
    [{ product: '' }, 'Enter an email address'],
    [{ email: '"><script>@example.com', product: '' }, 'Enter an email address'],
    [{ email: 'asha@example.com', product: 'api-unknown' }, 'That product is not offered'],
  ])('is shown the form again for %j', async (fields, problem) => {
    const { statusCode, body } = await post('/status-mail', { ...fields });
    expect([statusCode, body.includes(problem), body.includes('"><script>')]).toEqual([400, true, false]);
    expect(await rows()).toEqual([]);
  });

  it('is forgotten after a day without a confirmation, and the link then works no more', async () => {
    await wish('asha@example.com');
    const [mail] = await mailed();
    await dashboard.pool.query("UPDATE status_subscription SET asked_at = now() - interval '25 hours'");
    for (const late of [await dashboard.ask({ path: linkOf(mail) }), await post(linkOf(mail))]) expect(late.statusCode).toBe(404);
    await sweepStatusSubscriptions(dashboard.db);
    expect(await rows()).toEqual([]);
  });

  it('is asked twice at most where the mail server takes no mail for the address', async () => {
    await wish('asha@example.com');
    refuses = true;
    for (let time = 0; time < 4; time += 1) {
      await mailed();
      await dashboard.pool.query("UPDATE outbox SET due_at = now() WHERE kind = 'status' AND due_at IS NOT NULL");
    }
    const { rows: questions } = await dashboard.pool.query("SELECT attempts, due_at FROM outbox WHERE kind = 'status'");
    expect([tried, questions]).toEqual([2, [{ attempts: 3, due_at: null }]]);
  });

  it('finds no form where no mail is sent', async () => {
    const without = await startDashboard({ hasOutbox: true });
    try {
      expect((await without.ask({ path: '/status' })).body).not.toContain('Get mail');
      expect((await without.ask({ method: 'POST', path: '/status-mail' })).statusCode).toBe(404);
    } finally {
      await without.close();
    }
  });
});

describe('a reader of the mail', () => {
  /** When the products were looked at last. Some hours ago, so that what waits a quarter of an hour is due at once. */
  let nowMs: number;
  let key: Awaited<ReturnType<typeof newKey>>;
  beforeEach(async () => {
    nowMs = Date.now() - 6 * 3_600_000;
    key = await newKey(dashboard.pool);
  });

  /** Answers of a product in ten seconds, after which both processes look. */
  async function pass(answers: { succeeded?: number; failed?: number }): Promise<void> {
    const { succeeded = 0, failed = 0 } = answers;
    const day = new Intl.DateTimeFormat('en-CA', { timeZone }).format(nowMs);
    const counts = { day, hour: 1, succeeded, rejected: 0, failed, abandoned: 0, took: [succeeded + failed] };
    await dashboard.pool.query('SELECT note_answers($1::json)', [JSON.stringify([{ credentialId: key.id, product: 'api-ip', ...counts }])]);
    nowMs += 10_000;
    await Promise.all([dashboard.db, other].map((db) => watchOutages(db, { timeZone, at: new Date(nowMs) })));
  }
  const fail = (): Promise<void> => pass({ failed: 100 });
  async function recover(): Promise<void> {
    nowMs += 120_000;
    await pass({ succeeded: 1 });
    await pass({ succeeded: 1_000 });
  }

  it('gets one mail when a product begins to fail and one when it works again, also with two processes and two wishes', async () => {
    for (const product of ['', 'api-ip', 'api-seo']) await subscribe('asha@example.com', product);
    await subscribe('nila@example.com', 'api-seo');
    await wish('unconfirmed@example.com');
    await mailed();
    await pass({ succeeded: 1 });
    await pass({ succeeded: 10, failed: 19 });
    expect(await mailed()).toEqual([]);
    await fail();
    const [began, ...more] = await mailed();
    expect(told(began ? [began, ...more] : [])).toEqual(['asha@example.com: IP lookup is failing']);
    expect(began?.text).toMatch(/^IP lookup has been failing since \d+ \w+ \d{4}, \d\d:\d\d IST\. /);
    expect(began?.text).toContain(began?.unsubscribe);
    await fail();
    expect(await mailed()).toEqual([]);
    await recover();
    const [ended, ...others] = await mailed();
    expect(told(ended ? [ended, ...others] : [])).toEqual(['asha@example.com: IP lookup works again']);
    expect(ended?.text).toMatch(/^IP lookup failed from \d+ .+ IST to \d+ .+ IST, and has worked since\./);
  });

  it('hears of a product that fails again and again once, and that it works again once it has for a quarter of an hour', async () => {
    await subscribe('asha@example.com');
    await pass({ succeeded: 1 });
    for (let time = 0; time < 4; time += 1) {
      await fail();
      await recover();
    }
    // As if this were written when it happened: the end of the last is what is due.
    await dashboard.pool.query("UPDATE outbox SET due_at = now() WHERE kind = 'status' AND due_at IS NOT NULL");
    expect(told(await mailed())).toEqual(['asha@example.com: IP lookup works again']);
    nowMs += 15 * 60_000;
    await pass({ succeeded: 1 });
    await fail();
    expect(told(await mailed())).toEqual(['asha@example.com: IP lookup is failing']);
  });

  it('hears the end a quarter of an hour after it', async () => {
    await subscribe('asha@example.com');
    nowMs = Date.now() - 600_000;
    await pass({ succeeded: 1 });
    await fail();
    await mailed();
    await recover();
    expect(await mailed()).toEqual([]);
    const { rows: waiting } = await dashboard.pool.query(
      "SELECT o.due_at - p.ended_at = interval '15 minutes' AS \"isLater\" FROM outbox o, product_outage p WHERE o.kind = 'status' AND o.due_at IS NOT NULL",
    );
    expect(waiting).toEqual([{ isLater: true }]);
  });

  it('ends it by the link in each mail, and a mail program by itself, after which nothing of the address is left', async () => {
    await subscribe('asha@example.com');
    await subscribe('nila@example.com');
    await pass({ succeeded: 1 });
    await fail();
    const sent = await mailed();
    const [byHand = '', byProgram = ''] = ['asha', 'nila'].map((name) => sent.find(({ to }) => to.startsWith(name))?.unsubscribe ?? '');
    expect((await dashboard.ask({ path: byHand.slice(ORIGIN.length) })).body).toContain('No more mail to asha@example.com');
    expect(await rows()).toHaveLength(2);
    expect((await post(byHand.slice(ORIGIN.length))).body).toContain('You are unsubscribed');
    await recover();
    const oneClick = { 'List-Unsubscribe': 'One-Click' };
    expect((await post(byProgram.slice(ORIGIN.length), oneClick, { origin: '' })).statusCode).toBe(200);
    expect(await rows()).toEqual([]);
    expect(await mailed()).toEqual([]);
    expect((await post('/status-mail/end?token=none', oneClick, { origin: '' })).statusCode).toBe(404);
  });

  it('is forgotten with the account of the address', async () => {
    await dashboard.signIn('asha@example.com');
    await subscribe('asha@example.com');
    await dashboard.pool.query(
      `WITH gone AS (DELETE FROM auth_session)
       INSERT INTO account_deletion (customer_id, user_id, asked_at, keys, subscriptions)
       SELECT c.id, u.id, now() - interval '15 days', '{}', '{}' FROM customer c JOIN auth_user u ON u.email = c.email WHERE c.email = 'asha@example.com'`,
    );
    await dashboard.pool.query("SELECT erase_account(id) FROM customer WHERE email = 'asha@example.com'");
    expect(await rows()).toEqual([]);
  });
});

it('a form is taken nowhere else', async () => {
  expect((await post('/api/public/try', { product: 'api-ip' })).statusCode).toBe(415);
});
