import { EventEmitter, once } from 'node:events';
import { createSocket } from 'node:dgram';
import { type Answer, type Charge, type Decision, type RefundRequest } from '../../../plugins/core/ports';
import { AnswerSocket } from '../../../plugins/server/answers/answer-socket';
import { hearOther, passToAll, passToParent } from '../../../plugins/server/answers/pass-answers';
import { RefundQueue } from '../../../plugins/server/answers/refund-queue';
import { Witness } from '../../../plugins/server/answers/witness';
import { fc, propertyRuns } from '../../support/fast-check';
import { eventually } from '../../support/eventually';
import { someDecision } from '../../support/some-decision';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function setUp() {
  const told: Answer[] = [];
  const logged: Decision[] = [];
  const returned: RefundRequest[] = [];
  const witness = new Witness({ note: (answer) => told.push(answer), giveBack: (refund) => returned.push(refund) });
  closers.push(() => witness.close());
  const log = witness.watch({ record: (decision) => logged.push(decision) });
  const admit = (requestId: string, extra: Partial<Decision> = {}): void =>
    log.record(someDecision({ requestId, credentialId: 'key-1', product: 'api-own', atMs: 0, ...extra }));
  return { told, returned, logged, witness, admit };
}

const lineOf = (id: string, status = 200): string => `${id} ${status} 0.012 5 0.010`;

test('an answer is joined with its decision once, whatever else is told', () => {
  const { told, logged, witness, admit } = setUp();
  admit('request-1');
  admit('request-2');
  admit('request-3', { outcome: 'key_expired' });
  witness.hear(['request-9 200 0.001 5 -', lineOf('request-3'), 'request-1 nonsense', lineOf('request-1', 404)].join('\n'));
  witness.hear([lineOf('request-1'), lineOf('request-1')].join('\n'));
  expect(told).toEqual([
    { requestId: 'request-1', credentialId: 'key-1', product: 'api-own', atMs: 0, status: 404, bytes: 5, elapsedMs: 12 },
  ]);
  expect(logged).toHaveLength(3);
  expect(witness.stats()).toEqual({ pending: 1, missing: 0 });
});

const charge: Charge = { subscriptionId: 'counter-1', day: '2026-11-24', dailyLimit: 100, units: 49, isFree5xx: false };
const returned = { requestId: 'request-1', subscriptionId: 'counter-1', day: '2026-11-24', dailyLimit: 100, units: 49 };

test.each([
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

test('what is never told is given up after 15 to 30 minutes, and the older half when there is too much', () => {
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

test('a worker that hears of others’ requests passes the lines on, gathered, and each finds its own', () => {
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

test('datagrams of an access log arrive as lines, and others do no harm', async () => {
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
  const refundOf = (requestId: string): RefundRequest => ({
    requestId,
    subscriptionId: 'counter',
    day: '2026-11-24',
    dailyLimit: 100,
    units: 1,
  });

  test('are tried again until the counter answers, and lost only at the end', async () => {
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

  /** The counter's rule, which test/contracts/quota-counter.ts holds: once a request id. */
  class Ledger {
    readonly returned = new Map<string, number>();
    refund({ requestId }: RefundRequest): Promise<'refunded' | 'repeated'> {
      const count = this.returned.get(requestId);
      this.returned.set(requestId, 1);
      return Promise.resolve(count === undefined ? 'refunded' : 'repeated');
    }
  }

  const ids = ['request-1', 'request-2', 'request-3'];
  const step = fc.oneof(
    fc.record({ kind: fc.constant('admit' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('tell' as const), id: fc.constantFrom(...ids), line: fc.constantFrom('200 0.100 5 0.100', '502 0.100 5 -', '503 0.100 5 0.100', '499 0.100 5 -') }),
    fc.record({ kind: fc.constant('service' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('lost answer of the counter' as const), id: fc.constantFrom(...ids) }),
    fc.record({ kind: fc.constant('restart' as const), id: fc.constant('') }),
  ); // prettier-ignore

  test('are those of the first word that says so, once, in any order, with repeats, losses and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const ledger = new Ledger();
        const expected = new Set<string>();
        const admitted = new Set<string>();
        let pending = new Set<string>();
        let losesNext = false;
        const counter = {
          refund: async (refund: RefundRequest) => {
            const outcome = await ledger.refund(refund);
            if (!losesNext) return outcome;
            losesNext = false;
            throw new Error('the answer was lost');
          },
        };
        const open = () => {
          const queue = new RefundQueue({ counter, onError: () => undefined, retryMs: 0 });
          const witness = new Witness({ note: () => undefined, giveBack: (refund) => queue.add(refund) });
          return { queue, witness, log: witness.watch({ record: () => undefined }) };
        };
        let server = open();
        const end = async (): Promise<void> => {
          server.witness.close();
          await server.queue.close();
        };
        for (const each of steps) {
          if (each.kind === 'admit' && !admitted.has(each.id)) {
            admitted.add(each.id);
            pending.add(each.id);
            server.log.record(someDecision({ requestId: each.id, credentialId: 'key', product: 'own', charge }));
          } else if (each.kind === 'tell') {
            if (pending.delete(each.id) && each.line.startsWith('502')) expected.add(each.id);
            server.witness.hear(`${each.id} ${each.line}`);
          } else if (each.kind === 'service' && admitted.has(each.id)) {
            expected.add(each.id);
            await ledger.refund(refundOf(each.id));
          } else if (each.kind === 'lost answer of the counter') {
            losesNext = true;
          } else if (each.kind === 'restart') {
            await end();
            server = open();
            pending = new Set();
          }
        }
        await end();
        expect(new Set(ledger.returned.keys())).toEqual(expected);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
