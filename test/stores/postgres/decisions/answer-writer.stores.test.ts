import { randomUUID } from 'node:crypto';
import { type Answer, type Decision } from '../../../../plugins/core/ports';
import { ANSWER_TIME_BOUNDS_MS } from '../../../../plugins/core/catalogue/answer-times';
import { AnswerWriter, type AnswerWriterOptions } from '../../../../plugins/stores/postgres/decisions/answer-writer';
import { DecisionWriter } from '../../../../plugins/stores/postgres/decisions/decision-writer';
import { readDailyAnswers, readKeyUsage } from '../../../../services/selling/requests/read-key-hours';
import { createKey } from '../../../../services/selling/keys/create-key';
import { newKey } from '../../../contracts/access-records';
import { useDatabase } from '../../../support/postgres/use-database';
import { someDecision } from '../../../support/some-decision';

const KOLKATA = 'Asia/Kolkata';
/** 17:30 in Kolkata. */
const AT_MS = Date.parse('2026-11-20T12:00:00Z');

const database = useDatabase();

const newWriter = (options: Partial<AnswerWriterOptions> = {}): AnswerWriter =>
  new AnswerWriter({ pool: database.pool, timeZone: KOLKATA, flushMs: 3_600_000, ...options });
const answerOf = (credentialId: string, extra: Partial<Answer> = {}): Answer => ({
  requestId: 'of-no-line',
  credentialId,
  product: 'api-ip',
  status: 200,
  bytes: 5,
  atMs: AT_MS,
  elapsedMs: 20,
  isFromApi: true,
  ...extra,
});
let requests = 0;
const decisionOf = (extra: Partial<Decision>): Decision =>
  someDecision({ requestId: `request-${++requests}`, atMs: AT_MS, product: 'api-ip', ...extra });
const read = (keyId: string) =>
  readKeyUsage(database.pool, { keyId, fromDay: '2026-11-20', toDay: '2026-11-21', timeZone: KOLKATA, by: 'hour' });
const none = new Array<number>(ANSWER_TIME_BOUNDS_MS.length + 1).fill(0);

describe('answers', () => {
  it('are counted by key, product, hour, class of status and time', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const writer = newWriter();
    for (const status of [200, 304, 404, 500]) writer.note(answerOf(one, { status }));
    writer.note(answerOf(one, { status: 499, elapsedMs: 1 }));
    writer.note(answerOf(one, { elapsedMs: 90_000, atMs: AT_MS + 3_600_000 }));
    writer.note(answerOf(other, { product: 'api-seo' }));
    await writer.close();
    expect(await read(one)).toMatchObject([
      { day: '2026-11-20', hour: 17, answers: { succeeded: 2, rejected: 1, failed: 1, abandoned: 1, took: none.with(1, 4) } },
      { day: '2026-11-20', hour: 18, answers: { succeeded: 1, rejected: 0, failed: 0, abandoned: 0, took: none.with(none.length - 1, 1) } },
    ]);
    expect(await read(other)).toMatchObject([{ product: 'api-seo', admitted: 0, answers: { succeeded: 1 } }]);
  });

  it('stand with their status and time at lines of the log, once, and at no refusal', async () => {
    const [admitted, refused] = [decisionOf({ method: 'GET', rawPath: '/ip' }), decisionOf({ outcome: 'key_expired' })];
    const decisions = new DecisionWriter({ pool: database.pool, timeZone: KOLKATA, flushMs: 3_600_000 });
    for (const each of [admitted, refused]) decisions.record(each);
    await decisions.close();
    for (const status of [502, 200]) {
      const writer = newWriter();
      for (const { requestId } of [admitted, refused]) writer.note(answerOf(randomUUID(), { requestId, status, elapsedMs: 12.4 }));
      await writer.close();
    }
    const { rows } = await database.pool.query(
      'SELECT status, milliseconds, bytes::int FROM decision WHERE request_id = ANY ($1::text[]) ORDER BY outcome',
      [[admitted.requestId, refused.requestId]],
    );
    expect(rows).toEqual([{ status: 502, milliseconds: 12, bytes: 5 }, { status: null, milliseconds: null, bytes: null }]); // prettier-ignore
  });

  it('wait while the database is away, and are lost by nobody', async () => {
    const key = randomUUID();
    const failures: unknown[] = [];
    let isAway = true;
    const pool = { query: (query: never) => (isAway ? Promise.reject(new Error('away')) : database.pool.query(query)) };
    const writer = newWriter({ pool: pool as unknown as AnswerWriterOptions['pool'], onError: (error) => failures.push(error) });
    writer.note(answerOf(key));
    await writer.flush();
    writer.note(answerOf(key, { status: 502 }));
    isAway = false;
    await writer.close();
    expect(failures).toHaveLength(1);
    expect(await read(key)).toMatchObject([{ answers: { succeeded: 1, failed: 1, took: none.with(1, 2) } }]);
  });

  it('are counted by day for the customer too, beside the requests that nodes count at the same time', async () => {
    const { pool } = database;
    const [one, other] = [await newKey(pool), await newKey(pool)];
    const { id: second } = await createKey(pool, { customer: one.customerId, products: ['api-ip'], actor: 'cli' });
    const keys = [one, { ...one, id: second }, other].map(({ id, customerId }) => ({ credentialId: id, customerId }));
    const services = [newWriter(), newWriter()];
    const nodes = [0, 1].map(() => new DecisionWriter({ pool, timeZone: KOLKATA, flushMs: 3_600_000 }));
    for (let round = 0; round < 10; round++) {
      for (const key of round % 2 ? keys : keys.toReversed()) {
        for (const node of nodes) node.record(decisionOf({ ...key, atMs: AT_MS + round * 3_600_000 }));
        for (const service of services)
          service.note(answerOf(key.credentialId, { atMs: AT_MS + round * 3_600_000, status: 200 + round * 50 }));
      }
      await Promise.all([...services, ...nodes].map((each) => each.flush()));
    }
    for (const node of nodes) node.record(decisionOf({ ...keys[0], outcome: 'key_expired', product: 'api-pincode' }));
    await Promise.all([...services, ...nodes].map((each) => each.close()));
    const days = (customerId: string) => readDailyAnswers(pool, { customerId, fromDay: '2026-11-20', toDay: '2026-11-21' });
    const first = {
      day: '2026-11-20',
      product: 'api-ip',
      admitted: 28,
      answers: { succeeded: 16, rejected: 8, failed: 4, abandoned: 0, took: none.with(1, 28) },
    };
    const next = {
      day: '2026-11-21',
      product: 'api-ip',
      admitted: 12,
      answers: { succeeded: 0, rejected: 0, failed: 12, abandoned: 0, took: none.with(1, 12) },
    };
    expect(await days(one.customerId)).toEqual([first, next]);
    expect((await read(one.id)).reduce((sum, { answers }) => sum + (answers?.succeeded ?? 0), 0)).toBe(8);
    expect(await days(other.customerId)).toMatchObject([{ admitted: 14, answers: { succeeded: 8, rejected: 4 } }, { admitted: 6 }]);
  });

  it('of what is no key are left out and harm nothing', async () => {
    const key = randomUUID();
    const writer = newWriter();
    writer.note(answerOf('not a key'));
    writer.note(answerOf(key));
    await writer.close();
    expect(await read(key)).toMatchObject([{ answers: { succeeded: 1 } }]);
  });
});
