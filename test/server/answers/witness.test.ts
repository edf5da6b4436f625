import { EventEmitter, once } from 'node:events';
import { createSocket } from 'node:dgram';
import { Registry } from 'prom-client';
import { type Answer, type Charge, type Decision, type RefundRequest, type Settlement } from '../../../plugins/core/ports';
import { AnswerSocket } from '../../../plugins/server/answers/answer-socket';
import { hearOther, passToAll, passToParent } from '../../../plugins/server/answers/pass-answers';
import { RefundQueue } from '../../../plugins/server/answers/refund-queue';
import { SettleQueue } from '../../../plugins/server/answers/settle-queue';
import { Witness } from '../../../plugins/server/answers/witness';
import { fc, propertyRuns } from '../../support/fast-check';
import { eventually } from '../../support/eventually';
import { someDecision } from '../../support/some-decision';
import { GatewayErrors } from '../../../plugins/server/answers/gateway-errors';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function setUp() {
  const told: Answer[] = [];
  const logged: Decision[] = [];
  const returned: RefundRequest[] = [];
  const settled: Omit<Settlement, 'id'>[] = [];
  const witness = new Witness({
    note: (answer) => told.push(answer),
    giveBack: (refund) => returned.push(refund),
    settle: (due) => settled.push(due),
  });
  closers.push(() => witness.close(0));
  const log = witness.watch({ record: (decision) => logged.push(decision) });
  const admit = (requestId: string, extra: Partial<Decision> = {}): void =>
    log.record(someDecision({ requestId, credentialId: 'key-1', product: 'api-own', atMs: 0, ...extra }));
  return { told, returned, settled, logged, witness, admit };
}

const lineOf = (id: string, status = 200): string => `${id} ${status} 0.012 5 0.010`;

it('an answer is joined with its decision once, whatever else is told', () => {
  const { told, logged, witness, admit } = setUp();
  admit('request-1');
  admit('request-2');
  admit('request-3', { outcome: 'key_expired' });
  witness.hear(['request-9 200 0.001 5 -', lineOf('request-3'), 'request-1 nonsense', lineOf('request-1', 404)].join('\n'));
  witness.hear([lineOf('request-1'), lineOf('request-1')].join('\n'));
  expect(told).toEqual([
    { requestId: 'request-1', credentialId: 'key-1', product: 'api-own', atMs: 0, status: 404, bytes: 5, elapsedMs: 12, isFromApi: true },
  ]);
  expect(logged).toHaveLength(3);
  expect(witness.stats()).toEqual({ pending: 1, missing: 0 });
});

const charge: Charge = { subscriptionId: 'counter-1', day: '2026-11-24', dailyLimit: 100, units: 49, isFree5xx: false };
const refundOf = (requestId: string): RefundRequest => ({
  requestId,
  subscriptionId: 'counter-1',
  day: '2026-11-24',
  dailyLimit: 100,
  units: 49,
});
const returned = refundOf('request-1');

it.each([
  ['that no API answered', '502 0.003 126 -', charge, [returned]],
  ['that no API answered in time', '504 60.001 102 0.010, -', charge, [returned]],
  ['that the gateway failed itself', '500 0.001 102 -', charge, [returned]],
  ['whose API failed, where the catalogue takes that back', '500 0.003 126 0.003', { ...charge, isFree5xx: true }, [returned]],
  ['whose API failed, elsewhere', '502 0.003 126 0.003', charge, []],
  ['whose client left', '499 12.001 0 -', { ...charge, isFree5xx: true }, []],
  ['that the API refused', '404 0.003 126 0.003', { ...charge, isFree5xx: true }, []],
  ['that the gateway refused', '413 0.003 126 -', charge, []],
  ['that took nothing', '502 0.003 126 -', undefined, []],
])('a request is given back by what is told: one %s', (_, line, taken, expected) => {
  const { returned: given, witness, admit } = setUp();
  admit('request-1', { charge: taken });
  witness.hear(`request-1 ${line}\nrequest-1 ${line}`);
  expect(given).toEqual(expected);
});

const priced = { ...charge, units: 5, mostUnits: 1_000 };
const due = (units: number): Omit<Settlement, 'id'> => ({ subscriptionId: 'counter-1', day: '2026-11-24', units });

it.each<[string, string, Charge | undefined, number | undefined, number?]>([
  ['says more than was taken', 'units=17', priced, 17, 12],
  ['says what was taken', 'units=5', priced, 5],
  ['says more than the most', 'units=1001', priced, 1_000, 995],
  ['says the longest number that counts', `units=${'9'.repeat(30)}`, priced, 1_000, 995],
  ['says a number that is too long', `units=${'9'.repeat(31)}`, priced, 5],
  ['says nothing', 'units=-', priced, 5],
  ['comes from a gateway that does not tell', '', priced, 5],
  ['says what is no number', 'units=many', priced, 5],
  ['says what is below zero', 'units=-4', priced, 5],
  ['says what is no whole number', 'units=7.5', priced, 5],
  ['says it twice: the first counts', 'units=7, 8', priced, 7, 2],
  ['says so for a product whose requests cost one price', 'units=17', charge, 49],
  ['says so where nothing was counted', 'units=17', undefined, undefined],
])('what a request costs is settled once: the answer %s', (...[, said, taken, units, more]) => {
  const { told, settled, returned: given, witness, admit } = setUp();
  admit('request-1', { charge: taken });
  const line = `request-1 200 0.003 5 0.003 ${said}`.trim();
  witness.hear(`${line}\n${line}`);
  expect([told.map((answer) => answer.units), settled, given]).toEqual([[units], more === undefined ? [] : [due(more)], []]);
});

it.each([
  ['nothing is to be charged', 'units=0', 5],
  ['less', 'units=2', 3],
  ['one less', 'units=4', 1],
])('an answer that says %s has the rest given back as every refund is, within its cap', (_, said, units) => {
  const { settled, returned: given, witness, admit } = setUp();
  admit('request-1', { charge: priced });
  witness.hear(`request-1 200 0.003 5 0.003 ${said}\nrequest-1 200 0.003 5 0.003 ${said}`);
  expect([settled, given]).toEqual([[], [{ ...returned, units }]]);
});

it.each(['499', '404', '500'])('an answer of the API with %s costs what it says, unless the catalogue takes it back', (status) => {
  const { settled, witness, admit } = setUp();
  admit('request-1', { charge: priced });
  witness.hear(`request-1 ${status} 0.003 5 0.003 units=17`);
  expect(settled).toEqual([due(12)]);
});

it('an answer that is given back is not settled too', () => {
  const { settled, returned: given, witness, admit } = setUp();
  admit('request-1', { charge: { ...priced, isFree5xx: true } });
  witness.hear('request-1 503 0.003 5 0.003 units=17');
  expect([settled, given]).toEqual([[], [{ ...returned, units: 5 }]]);
});

it('a server that ends awaits the answers to requests under way, and counts those that do not come', async () => {
  const { told, witness, admit } = setUp();
  ['request-0', 'request-1', 'request-2'].forEach((id) => admit(id));
  witness.hear(lineOf('request-0'));
  let hasEnded = false;
  const ended = witness.close(600_000).then((late) => ((hasEnded = true), late));
  witness.hear(lineOf('request-1'));
  await new Promise(setImmediate);
  expect(hasEnded).toBe(false);
  witness.hear(lineOf('request-2'));
  expect([await ended, told.length, witness.stats()]).toEqual([0, 3, { pending: 0, missing: 0 }]);
  admit('request-3');
  expect([await witness.close(1), witness.stats()]).toEqual([1, { pending: 0, missing: 1 }]);
});

it('what is never told is given up after 15 to 30 minutes, and the older half when there is too much', () => {
  jest.useFakeTimers();
  closers.push(() => jest.useRealTimers());
  const { told, witness, admit } = setUp();
  admit('request-1');
  jest.advanceTimersByTime(900_000);
  admit('request-2');
  expect(witness.stats()).toEqual({ pending: 2, missing: 0 });
  jest.advanceTimersByTime(900_000);
  expect(witness.stats()).toEqual({ pending: 1, missing: 1 });
  for (let count = 0; count < 50_000; count++) admit(`more-request-${count}`);
  expect(witness.stats()).toEqual({ pending: 50_000, missing: 2 });
  witness.hear([lineOf('request-1'), lineOf('request-2'), lineOf('more-request-0'), lineOf('more-request-49999')].join('\n'));
  expect(told.map(({ requestId }) => requestId)).toEqual(['more-request-0', 'more-request-49999']);
  admit('one-more');
  expect(witness.stats()).toEqual({ pending: 49_999, missing: 2 });
});

it('a worker that hears of others’ requests passes the lines on, gathered, and each finds its own', () => {
  jest.useFakeTimers();
  closers.push(() => jest.useRealTimers());
  /** One end, whose messages come out at the other. */
  const channel = (other: EventEmitter) =>
    Object.assign(new EventEmitter(), { send: jest.fn((message: object) => other.emit('message', message)) });
  const [one, two] = [setUp(), setUp()];
  const ends = [one, two].map(({ witness }) => {
    const atWorker = Object.assign(new EventEmitter(), { send: jest.fn() });
    const atParent = channel(atWorker);
    atWorker.send.mockImplementation((message: object) => atParent.emit('message', message));
    hearOther(atWorker, (lines) => witness.hear(lines));
    return { atWorker, atParent };
  });
  for (const { atParent } of ends) hearOther(atParent, (lines) => passToAll(ends.map((each) => each.atParent), lines)); // prettier-ignore
  one.admit('request-1');
  two.admit('request-2');
  const passOn = passToParent(ends[0]?.atWorker ?? new EventEmitter());
  one.witness.hear(`${lineOf('request-1')}\n${lineOf('request-2')}\n`, passOn);
  one.witness.hear(`${lineOf('request-3')}\n`, passOn);
  jest.advanceTimersByTime(50);
  expect([one, two].map(({ told }) => told.map(({ requestId }) => requestId))).toEqual([['request-1'], ['request-2']]);
  expect(ends[0]?.atWorker.send).toHaveBeenCalledTimes(1);
});

it('datagrams of an access log arrive as lines, and others do no harm', async () => {
  const heard: string[] = [];
  const socket = await AnswerSocket.open({
    listen: { host: '127.0.0.1', port: 0 },
    hear: (lines) => heard.push(...lines.split('\n')),
  });
  const sender = createSocket('udp4');
  for (const text of ['nonsense', `<190>Nov 24 12:40:03 tg: ${lineOf('request-1')}`, '', `tg: ${lineOf('request-2')}\n`])
    sender.send(text, socket.port, '127.0.0.1');
  await eventually(() => heard.length === 2);
  sender.close();
  await once(sender, 'close');
  await socket.close();
  expect(heard).toEqual([lineOf('request-1'), lineOf('request-2')]);
});

describe('units given back', () => {
  it('are tried again until the counter answers, and lost only at the end', async () => {
    const failures: unknown[] = [];
    let isAway = true;
    const refund = jest.fn(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve('refunded' as const)));
    const queue = new RefundQueue({ counter: { refund }, onError: (error) => failures.push(error), retryMs: 1 });
    for (let count = 0; count < 9; count++) queue.add(refundOf(`request-${count}`));
    await eventually(() => failures.length > 9);
    isAway = false;
    await eventually(() => queue.stats().outcomes.refunded === 9);
    isAway = true;
    queue.add(refundOf('request-9'));
    await queue.close();
    expect(queue.stats()).toMatchObject({ waiting: 0, outcomes: { refunded: 9, lost: 1 } });
  });
});

describe('what answers cost', () => {
  it('of many requests at once is one call a counter and day', async () => {
    const calls: Settlement[] = [];
    const counter = { settle: (settlement: Settlement) => (calls.push(settlement), Promise.resolve('settled' as const)) };
    const queue = new SettleQueue({ counter, onError: () => undefined, paceMs: 0 });
    for (let count = 0; count < 1_000; count++)
      for (const day of ['2026-11-23', '2026-11-24']) queue.add({ ...due(count % 2 ? 5 : 2), day });
    await queue.close();
    expect(calls.map(({ day, units }) => [day, units])).toEqual([['2026-11-23', 3_500], ['2026-11-24', 3_500]]); // prettier-ignore
    expect(queue.stats()).toEqual({ waiting: 0, units: { charged: 7_000, lost: 0 } });
  });

  it('is tried again until the counter answers, and lost only at the end', async () => {
    let isAway = true;
    const failures: unknown[] = [];
    const counter = { settle: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve('settled' as const)) };
    const queue = new SettleQueue({ counter, onError: (error) => failures.push(error), paceMs: 0, retryMs: 1 });
    queue.add(due(7));
    await eventually(() => failures.length > 3);
    isAway = false;
    await eventually(() => queue.stats().units.charged === 7);
    isAway = true;
    queue.add(due(2));
    await queue.close();
    expect(queue.stats()).toEqual({ waiting: 0, units: { charged: 7, lost: 2 } });
  });
});

/** The counter's rule, which test/contracts/quota-counter.ts holds: once an id. */
class Ledger {
  private readonly ids = new Set<string>();
  readonly returned = new Set<string>();
  readonly settled = new Map<string, number>();
  /** The counter is away, or its answer is lost. */
  fails: 'before' | 'after' | undefined;

  private take(id: string, note: () => void): Promise<boolean> {
    const { fails } = this;
    this.fails = undefined;
    if (fails === 'before') return Promise.reject(new Error('away'));
    const isNew = !this.ids.has(id);
    this.ids.add(id);
    if (isNew) note();
    return fails === 'after' ? Promise.reject(new Error('the answer was lost')) : Promise.resolve(isNew);
  }

  async refund({ requestId }: RefundRequest): Promise<'refunded' | 'repeated'> {
    return (await this.take(`refund ${requestId}`, () => this.returned.add(requestId))) ? 'refunded' : 'repeated';
  }

  async settle({ id, day, units }: Settlement): Promise<'settled' | 'repeated'> {
    const note = () => this.settled.set(day, (this.settled.get(day) ?? 0) + units);
    return (await this.take(`settle ${id}`, note)) ? 'settled' : 'repeated';
  }
}

/** What a line says, and how many units more than the reserve that costs. */
const LINES: Readonly<Record<string, number>> = {
  '200 0.100 5 0.100 units=0': 0,
  '200 0.100 5 0.100 units=3': 0,
  '200 0.100 5 0.100 units=5': 0,
  '200 0.100 5 0.100 units=17': 12,
  '499 0.100 5 0.100 units=2000': 995,
  '200 0.100 5 0.100 units=many': 0,
  '200 0.100 5 0.100': 0,
  '502 0.100 5 -': 0,
  '503 0.100 5 0.100': 0,
  '499 0.100 5 -': 0,
};
const anyId = fc.constantFrom('request-1', 'request-2', 'request-3', 'request-4');
const step = fc.oneof(
  fc.record({ kind: fc.constant('admit' as const), id: anyId, day: fc.constantFrom('2026-11-23', '2026-11-24') }),
  fc.record({ kind: fc.constant('tell' as const), id: anyId, line: fc.constantFrom(...Object.keys(LINES)) }),
  fc.record({ kind: fc.constant('service' as const), id: anyId }),
  fc.record({ kind: fc.constant('fail' as const), fails: fc.constantFrom('before' as const, 'after' as const) }),
  fc.constant({ kind: 'rest' as const }),
  fc.constant({ kind: 'restart' as const }),
);

it('what is given back, and what is charged, is each request’s, once, on its day, in any order, with repeats, losses and restarts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const ledger = new Ledger();
      const open = () => {
        const refunds = new RefundQueue({ counter: ledger, onError: () => undefined, retryMs: 0 });
        const settles = new SettleQueue({ counter: ledger, onError: () => undefined, paceMs: 0, retryMs: 0 });
        const witness = new Witness({
          note: () => undefined,
          giveBack: (refund) => refunds.add(refund),
          settle: (settlement) => settles.add(settlement),
        });
        const end = async (): Promise<void> => {
          await witness.close(0);
          // Without a failure at the very end, in which what waits is lost and counted.
          ledger.fails = undefined;
          await eventually(() => refunds.stats().waiting + settles.stats().waiting === 0);
          await Promise.all([refunds.close(), settles.close()]);
        };
        return { witness, end, log: witness.watch({ record: () => undefined }) };
      };
      const [returned, settled] = [new Set<string>(), new Map<string, number>()];
      const admitted = new Set<string>();
      const pending = new Map<string, string>();
      let server = open();
      for (const each of steps) {
        if (each.kind === 'admit' && !admitted.has(each.id)) {
          admitted.add(each.id);
          pending.set(each.id, each.day);
          server.log.record(
            someDecision({ requestId: each.id, credentialId: 'key', product: 'own', charge: { ...priced, day: each.day } }),
          );
        } else if (each.kind === 'tell') {
          const day = pending.get(each.id);
          if (day !== undefined && /^502|units=[03]$/.test(each.line)) returned.add(each.id);
          else if (day !== undefined) settled.set(day, (settled.get(day) ?? 0) + (LINES[each.line] ?? NaN));
          pending.delete(each.id);
          server.witness.hear(`${each.id} ${each.line}`);
        } else if (each.kind === 'service' && admitted.has(each.id)) {
          returned.add(each.id);
          await new Promise(setImmediate);
          ledger.fails = undefined;
          await ledger.refund(refundOf(each.id));
        } else if (each.kind === 'fail') {
          ledger.fails = each.fails;
        } else if (each.kind === 'rest') {
          await new Promise(setImmediate);
        } else if (each.kind === 'restart') {
          await server.end();
          server = open();
          // A lost witness: these stay at the reserve.
          pending.clear();
        }
      }
      await server.end();
      const counted = (units: ReadonlyMap<string, number>): [string, number][] => [...units].filter(([, sum]) => sum !== 0).sort();
      expect([ledger.returned, counted(ledger.settled)]).toEqual([returned, counted(settled)]);
    }),
    { numRuns: propertyRuns(200) },
  );
});

it('counts by status what a gateway answered in place of an API, and nothing else', async () => {
  const [errors, registry] = [new GatewayErrors(), new Registry()];
  errors.show(registry);
  const answered = (status: string, head = '-'): string => `0123456789abcdef ${status} 0.010 120 ${head} units=-`;
  errors.hear([answered('500'), answered('502'), answered('502', '-, -1')].join('\n'));
  errors.hear([answered('200', '0.009'), answered('401'), answered('500', '0.009'), '5', ' 5', '0123456789abcdef 5', ''].join('\n'));
  const counts = (await registry.metrics()).match(/^tollgate_gateway_errors_total\{.*$/gm);
  expect(counts).toEqual(['tollgate_gateway_errors_total{status="500"} 1', 'tollgate_gateway_errors_total{status="502"} 2']);
});
