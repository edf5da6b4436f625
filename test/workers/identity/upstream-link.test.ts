import { createLog } from '../../../services/kit/log';
import { UpstreamLink, type UpstreamLinkOptions } from '../../../services/workers/identity/upstream/upstream-link';
import { describeJsonLink } from '../../contracts/json-link';
import { eventually } from '../../support/eventually';
import { type Frame, type ScriptedLink, startScriptedLink } from '../../support/scripted-link';

type Target = Pick<UpstreamLinkOptions, 'url' | 'timings'>;

const TIMINGS = { messageMs: 20_000, connectMs: 20_000, heartbeatMs: 60_000 };
const open = (target: Target): UpstreamLink =>
  new UpstreamLink({ ...target, upstream: 'link', log: createLog('link', { level: 'silent' }) });
const nobodyLeaves = (): AbortSignal => new AbortController().signal;
const message = (sessionId: string, type = 'refresh') => ({ type, sessionId });

describeJsonLink('identity', {
  connect: (target) => {
    const link = open(target);
    return {
      ask: async (name, signal) => String((await link.exchange(message(name), signal)).sessionId),
      close: () => link.close(),
    };
  },
  answerTo: ({ sessionId }) => ({ type: 'captcha', sessionId, captcha: 'x' }),
  unreachable: expect.objectContaining({ name: 'SourceFailure', reason: 'unreachable' }),
  late: expect.objectContaining({ name: 'TimeoutError' }),
  garbled: expect.objectContaining({ name: 'SourceFailure', reason: 'bad_response' }),
  handshakeLate: expect.objectContaining({
    problem: 'upstream_timeout',
    cause: expect.objectContaining({ name: 'SourceFailure', reason: 'unreachable' }),
  }),
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function upstream(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
  const link = await startScriptedLink(...given);
  closers.push(() => link.close());
  return link;
}

function linkTo(url: string): UpstreamLink {
  const link = open({ url, timings: TIMINGS });
  closers.push(() => link.close());
  return link;
}

test('the messages are the published ones, member by member', async () => {
  const echo = (frame: Frame, say: (answer: Frame) => void): void => say({ type: 'captcha', ...frame, captcha: 'x' });
  const { url, received } = await upstream(echo);
  const link = linkTo(url);
  await link.start({ type: 'start' }, nobodyLeaves());
  await link.exchange({ type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' }, nobodyLeaves());
  expect(received).toEqual([
    { type: 'start', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' },
  ]);
});

test('an error that names nobody is told to the only one that waits', async () => {
  const { url } = await upstream((_frame, say) => say({ type: 'error', code: 'upstream', message: 'm' }));
  expect(await linkTo(url).exchange(message('s'), nobodyLeaves())).toMatchObject({ type: 'error', code: 'upstream' });
});

test('an error that names nobody is told to none of several', async () => {
  let frames = 0;
  const { url } = await upstream((frame, say) => {
    if (++frames < 2) return;
    say({ type: 'error', code: 'upstream' });
    say({ type: 'captcha', sessionId: 'a', captcha: 'x' });
    say({ type: 'captcha', sessionId: 'b', captcha: `after ${frame.sessionId}` });
  });
  const link = linkTo(url);
  const answers = await Promise.all([link.exchange(message('a'), nobodyLeaves()), link.exchange(message('b'), nobodyLeaves())]);
  expect(answers.map(({ type }) => type)).toEqual(['captcha', 'captcha']);
});

test('a broken connection fails everyone who waits at once, and nothing is sent twice', async () => {
  const stage = await upstream(() => undefined);
  const link = linkTo(stage.url);
  const waiting = ['a', 'b', 'c'].map((name) => link.exchange(message(name), nobodyLeaves()));
  await eventually(() => stage.received.length === 3);
  stage.drop();
  for (const each of await Promise.allSettled(waiting))
    expect(each).toMatchObject({ reason: { name: 'SourceFailure', reason: 'unreachable' } });
  expect(stage.received).toHaveLength(3);
});
