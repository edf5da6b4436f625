import { createLog } from '../../../services/kit/log';
import { type LinkTimings } from '../../../services/workers/identity/upstream/link-connection';
import { UpstreamLink } from '../../../services/workers/identity/upstream/upstream-link';
import { eventually } from '../../support/eventually';
import { type HeldTime, holdTime, passAnsweredHeartbeats } from '../../support/faults/held-time';
import { closedPort } from './support/stage';
import { type Frame, type ScriptedLink, startScriptedLink } from './support/scripted-link';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function upstream(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
  const link = await startScriptedLink(...given);
  closers.push(() => link.close());
  return link;
}

function linkTo(url: string, timings: Partial<LinkTimings> = {}, token?: string): UpstreamLink {
  const link = new UpstreamLink({
    url,
    token,
    timings: { messageMs: 20_000, connectMs: 20_000, heartbeatMs: 60_000, firstRetryMs: 10, slowestRetryMs: 40, ...timings },
    log: createLog('link', { level: 'silent' }),
  });
  closers.push(() => link.close());
  return link;
}

function hold(kind: Parameters<typeof holdTime>[0]): HeldTime {
  const time = holdTime(kind);
  closers.push(() => time.release());
  return time;
}

const nobodyLeaves = (): AbortSignal => new AbortController().signal;
const message = (sessionId: string, type = 'refresh') => ({ type, sessionId });
const echo = (frame: Frame, say: (answer: Frame) => void): void => say({ type: 'captcha', ...frame, captcha: 'x' });

test('answers are matched to their sessions in whatever order they come, over one connection', async () => {
  const held: (() => void)[] = [];
  const { url, handshakes } = await upstream((frame, say) => {
    held.push(() => say({ type: 'captcha', sessionId: frame.sessionId, captcha: `for ${frame.sessionId}` }));
    if (held.length === 50) for (const release of held.reverse()) release();
  });
  const link = linkTo(url);
  const names = Array.from({ length: 50 }, (_, index) => `s${index}`);
  const answers = await Promise.all(names.map((name) => link.exchange(message(name), nobodyLeaves())));
  expect(answers.map(({ captcha }) => captcha)).toEqual(names.map((name) => `for ${name}`));
  expect(handshakes).toHaveLength(1);
});

test('the messages are the published ones, member by member', async () => {
  const { url, received } = await upstream(echo);
  const link = linkTo(url);
  await link.start({ type: 'start' }, nobodyLeaves());
  await link.exchange({ type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' }, nobodyLeaves());
  expect(received).toEqual([
    { type: 'start', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' },
  ]);
});

test('a bearer token goes with the handshake', async () => {
  const { url, handshakes } = await upstream(echo);
  await linkTo(url, {}, 'the-token').exchange(message('s'), nobodyLeaves());
  expect(handshakes[0]?.authorization).toBe('Bearer the-token');
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

test('frames of another form, and frames for nobody, do not disturb', async () => {
  const { url } = await upstream((frame, say) => {
    for (const noise of ['[]', 'null', '{"type":7}', '{"type":"captcha","sessionId":"other"}']) say(noise);
    say({ type: 'captcha', sessionId: frame.sessionId });
  });
  expect(await linkTo(url).exchange(message('s'), nobodyLeaves())).toMatchObject({ sessionId: 's' });
});

test.each([
  ['text', 'Service Temporarily Unavailable'],
  ['bytes', Buffer.from('{"type":"captcha"}')],
])('%s that is no JSON fails everyone who waits at once, and its connection is heard no more', async (_what, noise) => {
  const { url, sockets, handshakes } = await upstream((frame, say, socket) => {
    if (frame.type !== 'last') return void (frame.type === 'hang' || echo(frame, say));
    socket.send(noise);
    say({ type: 'captcha', sessionId: 'a', captcha: 'late' });
  });
  const link = linkTo(url);
  const waiting = ['a', 'b'].map((name) => link.exchange(message(name, 'hang'), nobodyLeaves()));
  await eventually(() => sockets.size === 1);
  const last = link.exchange(message('c', 'last'), nobodyLeaves());
  for (const each of await Promise.allSettled([...waiting, last]))
    expect(each).toMatchObject({ reason: { name: 'SourceFailure', reason: 'bad_response' } });
  expect(await link.exchange(message('a'), nobodyLeaves())).not.toMatchObject({ captcha: 'late' });
  expect(handshakes).toHaveLength(2);
});

test('a message that is not answered in time fails as a time-out, and its late answer reaches nobody', async () => {
  const time = hold('timeouts');
  const { url, received } = await upstream((frame, say) => {
    if (frame.sessionId === 'slow') return;
    say({ type: 'captcha', sessionId: 'slow' });
    say({ type: 'captcha', sessionId: frame.sessionId });
  });
  const link = linkTo(url, { messageMs: 1_000 });
  const slow = expect(link.exchange(message('slow'), nobodyLeaves())).rejects.toMatchObject({ name: 'TimeoutError' });
  await eventually(() => received.length === 1);
  time.pass(1_000);
  await slow;
  expect(await link.exchange(message('s'), nobodyLeaves())).toMatchObject({ sessionId: 's' });
});

test('a caller that leaves stops waiting with its own reason', async () => {
  const { url, received } = await upstream(() => undefined);
  const leaving = new AbortController();
  const waiting = linkTo(url).exchange(message('s'), leaving.signal);
  await eventually(() => received.length === 1);
  leaving.abort(new Error('client left'));
  await expect(waiting).rejects.toThrow('client left');
  const late = linkTo(url);
  await expect(late.exchange(message('t'), leaving.signal)).rejects.toThrow('client left');
});

test('a broken connection fails everyone who waits at once, and the link comes back by itself', async () => {
  const stage = await upstream((frame, say) => (frame.type === 'hang' ? undefined : echo(frame, say)));
  const link = linkTo(stage.url);
  const waiting = ['a', 'b', 'c'].map((name) => link.exchange(message(name, 'hang'), nobodyLeaves()));
  await eventually(() => stage.received.length === 3);
  stage.drop();
  for (const each of await Promise.allSettled(waiting))
    expect(each).toMatchObject({ reason: { name: 'SourceFailure', reason: 'unreachable' } });
  await eventually(() => stage.handshakes.length === 2);
  expect(await link.exchange(message('a'), nobodyLeaves())).toMatchObject({ sessionId: 'a' });
});

test('an upstream that is down fails at once; when it is back, so is the link, asked or not', async () => {
  const port = await closedPort();
  const link = linkTo(`ws://127.0.0.1:${port}`);
  await expect(link.exchange(message('s'), nobodyLeaves())).rejects.toMatchObject({ name: 'SourceFailure', reason: 'unreachable' });
  const back = await upstream(echo, { port });
  await eventually(() => back.sockets.size === 1);
  expect(await link.exchange(message('s'), nobodyLeaves())).toMatchObject({ sessionId: 's' });
});

test('a peer that stops answering pings is taken for dead', async () => {
  const dead = await upstream(() => undefined, { autoPong: false });
  await expect(linkTo(dead.url, { heartbeatMs: 30 }).exchange(message('s'), nobodyLeaves())).rejects.toMatchObject({
    reason: 'unreachable',
  });
});

test('a peer that answers pings is kept, however long its answer takes', async () => {
  const time = hold('heartbeats');
  let answer: () => void = () => undefined;
  const alive = await upstream((frame, say) => (answer = () => echo(frame, say)));
  const asked = linkTo(alive.url, { heartbeatMs: 1_000 }).exchange(message('s'), nobodyLeaves());
  await eventually(() => alive.received.length === 1);
  const [peer] = alive.sockets;
  await passAnsweredHeartbeats(time, { peer, count: 5, everyMs: 1_000 });
  answer();
  expect(await asked).toMatchObject({ sessionId: 's' });
  expect(alive.handshakes).toHaveLength(1);
});

test('a closed link opens nothing any more', async () => {
  const { url, handshakes } = await upstream(echo);
  const link = linkTo(url);
  link.close();
  await expect(link.exchange(message('s'), nobodyLeaves())).rejects.toMatchObject({ reason: 'unreachable' });
  expect(handshakes).toHaveLength(0);
});
