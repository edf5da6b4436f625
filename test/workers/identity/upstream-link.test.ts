import { createLog } from '../../../services/kit/log';
import { UpstreamLink, type UpstreamLinkOptions } from '../../../services/workers/identity/upstream/upstream-link';
import { describeJsonLink } from '../../contracts/json-link';
import { eventually } from '../../support/eventually';
import { type Frame, startScriptedLink } from '../../support/scripted-link';

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

const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** A link to an upstream that does this. */
async function linkOver(script: Parameters<typeof startScriptedLink>[0]) {
  const upstream = await startScriptedLink(script);
  const link = open({ url: upstream.url, timings: TIMINGS });
  opened.push(link, upstream);
  return { upstream, link };
}

it('the messages are the published ones, member by member', async () => {
  const echo = (frame: Frame, say: (answer: Frame) => void): void => say({ type: 'captcha', ...frame, captcha: 'x' });
  const { upstream, link } = await linkOver(echo);
  await link.start({ type: 'start' }, nobodyLeaves());
  await link.exchange({ type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' }, nobodyLeaves());
  expect(upstream.received).toEqual([
    { type: 'start', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' },
  ]);
});

it('an error that names nobody is told to the only one that waits', async () => {
  const { link } = await linkOver((_frame, say) => say({ type: 'error', code: 'upstream', message: 'm' }));
  expect(await link.exchange(message('s'), nobodyLeaves())).toMatchObject({ type: 'error', code: 'upstream' });
});

it('an error that names nobody is told to none of several', async () => {
  let frames = 0;
  const { link } = await linkOver((frame, say) => {
    if (++frames < 2) return;
    say({ type: 'error', code: 'upstream' });
    say({ type: 'captcha', sessionId: 'a', captcha: 'x' });
    say({ type: 'captcha', sessionId: 'b', captcha: `after ${frame.sessionId}` });
  });
  const answers = await Promise.all([link.exchange(message('a'), nobodyLeaves()), link.exchange(message('b'), nobodyLeaves())]);
  expect(answers.map(({ type }) => type)).toEqual(['captcha', 'captcha']);
});

it('a broken connection fails everyone who waits at once, and nothing is sent twice', async () => {
  const { upstream, link } = await linkOver(() => undefined);
  const waiting = ['a', 'b', 'c'].map((name) => link.exchange(message(name), nobodyLeaves()));
  await eventually(() => upstream.received.length === 3);
  upstream.drop();
  for (const each of await Promise.allSettled(waiting))
    expect(each).toMatchObject({ reason: { name: 'SourceFailure', reason: 'unreachable' } });
  expect(upstream.received).toHaveLength(3);
});
