import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { type Answer, type Decision } from '../../../plugins/core/ports';
import { AnswerSocket } from '../../../plugins/server/answers/answer-socket';
import { Witness } from '../../../plugins/server/answers/witness';
import { eventually } from '../../support/eventually';
import { someDecision } from '../../support/some-decision';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function setUp() {
  const told: Answer[] = [];
  const logged: Decision[] = [];
  const clock = { now: () => nowMs, monotonic: () => nowMs };
  let nowMs = 0;
  const witness = new Witness({ clock, note: (answer) => told.push(answer) });
  closers.push(() => witness.close());
  const log = witness.watch({ record: (decision) => logged.push(decision) });
  const admit = (requestId: string, extra: Partial<Decision> = {}): void =>
    log.record(someDecision({ requestId, credentialId: 'key-1', product: 'api-own', atMs: nowMs, ...extra }));
  return { told, logged, witness, admit, wait: (ms: number) => (nowMs += ms) };
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

test('what is never told is given up, the oldest first, and counted', () => {
  jest.useFakeTimers();
  closers.push(() => jest.useRealTimers());
  const { told, witness, admit, wait } = setUp();
  admit('request-1');
  wait(600_000);
  admit('request-2');
  wait(400_000);
  jest.advanceTimersByTime(30_000);
  expect(witness.stats()).toEqual({ pending: 1, missing: 1 });
  for (let count = 0; count < 50_000; count++) admit(`more-request-${count}`);
  expect(witness.stats()).toEqual({ pending: 50_000, missing: 2 });
  witness.hear([lineOf('request-1'), lineOf('request-2'), lineOf('more-request-0')].join('\n'));
  expect(told.map(({ requestId }) => requestId)).toEqual(['more-request-0']);
});

test('datagrams of an access log arrive as lines, and others do no harm', async () => {
  const heard: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const socket = await AnswerSocket.open({
    listen: { host: '127.0.0.1', port: 0 },
    hear: (lines) => heard.push(...lines.split('\n')),
    log,
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
