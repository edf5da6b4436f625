import { createLog } from '../../../services/kit/log';
import { RankingLink, type RankingLinkOptions } from '../../../services/workers/ranking/websocket/ranking-link';
import { describeJsonLink } from '../../contracts/json-link';
import { type Frame, type ScriptedLink, startScriptedLink } from '../../support/scripted-link';

type Target = Pick<RankingLinkOptions, 'url' | 'timings'>;

const TIMINGS = { messageMs: 20_000, connectMs: 20_000, heartbeatMs: 60_000 };
const open = (target: Target): RankingLink => new RankingLink({ ...target, log: createLog('test', { level: 'silent' }) });
const failsWith = (problem: string, reason?: string) =>
  expect.objectContaining({
    name: 'ServiceError',
    problem,
    ...(reason !== undefined && { options: expect.objectContaining({ members: { reason } }) }),
  });
const resultFor = ({ id, keyword }: Frame): Frame => ({ type: 'result', id, body: { ok: true, keyword } });

describeJsonLink('ranking', {
  connect: (target) => {
    const link = open(target);
    return {
      ask: async (keyword, signal) => String(JSON.parse(await link.ask({ keyword }, signal)).keyword),
      close: () => link.close(),
    };
  },
  answerTo: resultFor,
  unreachable: failsWith('upstream_failed', 'unreachable'),
  garbled: failsWith('upstream_failed', 'bad_response'),
  late: failsWith('upstream_timeout'),
  handshakeLate: failsWith('upstream_timeout'),
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function upstreamThat(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
  const upstream = await startScriptedLink(...given);
  closers.push(() => upstream.close());
  return upstream;
}

function ask(link: RankingLink, keyword: string): Promise<string> {
  return link.ask({ keyword }, new AbortController().signal);
}

function linkTo(url: string): RankingLink {
  const link = open({ url, timings: TIMINGS });
  closers.push(() => link.close());
  return link;
}

test('a lost question is asked again on a new connection', async () => {
  let lost = 0;
  const upstream = await upstreamThat((frame, say, socket) =>
    frame.keyword === 'a' && lost++ === 0 ? socket.terminate() : say(resultFor(frame)),
  );
  const link = linkTo(upstream.url);
  const bodyOf = (keyword: string): string => JSON.stringify({ ok: true, keyword });
  expect(await Promise.all([ask(link, 'b'), ask(link, 'a')])).toEqual([bodyOf('b'), bodyOf('a')]);
  expect(upstream.handshakes).toHaveLength(2);
});

test('a question that loses two connections is given up', async () => {
  const upstream = await upstreamThat((_frame, _say, socket) => socket.terminate());
  await expect(ask(linkTo(upstream.url), 'a')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
  expect(upstream.received).toHaveLength(2);
});

test.each([
  ['an error for the question', ({ id }: Frame) => ({ type: 'error', id, message: 'key sk-1 is not valid' }), 'upstream_error'],
  ['an error for everybody', () => ({ type: 'error', message: 'shutting down' }), 'upstream_error'],
  ['a body without an ok flag', ({ id }: Frame) => ({ type: 'result', id, body: { results: [] } }), 'bad_response'],
])('%s fails the question, without repeating its words', async (_what, answer, reason) => {
  const upstream = await upstreamThat((frame, say) => say(answer(frame)));
  const failure: unknown = await ask(linkTo(upstream.url), 'a').catch((error: unknown) => error);
  expect(failure).toEqual(failsWith('upstream_failed', reason));
  expect(JSON.stringify(failure)).not.toMatch(/sk-1|shutting/);
  expect(upstream.received).toHaveLength(1);
});

test('a refusal of the upstream workflow is passed through: ok is false, and that is an answer; an error for somebody else is not', async () => {
  const upstream = await upstreamThat(({ id }, say) => {
    say({ type: 'error', id: 'nobody' });
    say(`{"type":"result","id":"${id}","body":{"ok":false,"why":1.0}}`);
  });
  expect(await ask(linkTo(upstream.url), 'a')).toBe('{"ok":false,"why":1.0}');
});
