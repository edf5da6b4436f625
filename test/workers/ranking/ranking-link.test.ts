import { createLog } from '../../../services/kit/log';
import { RankingLink, type RankingLinkOptions } from '../../../services/workers/ranking/websocket/ranking-link';
import { describeJsonLink } from '../../contracts/json-link';
import { type Frame, startScriptedLink } from '../../support/scripted-link';

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

const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** Asks over a link to an upstream that does this. */
async function askOver(script: Parameters<typeof startScriptedLink>[0]) {
  const upstream = await startScriptedLink(script);
  const link = open({ url: upstream.url, timings: TIMINGS });
  opened.push(link, upstream);
  return { upstream, ask: (keyword: string) => link.ask({ keyword }, new AbortController().signal) };
}

it('a lost question is asked again on a new connection', async () => {
  let lost = 0;
  const { upstream, ask } = await askOver((frame, say, socket) =>
    frame.keyword === 'a' && lost++ === 0 ? socket.terminate() : say(resultFor(frame)),
  );
  const bodyOf = (keyword: string): string => JSON.stringify({ ok: true, keyword });
  expect(await Promise.all([ask('b'), ask('a')])).toEqual([bodyOf('b'), bodyOf('a')]);
  expect(upstream.handshakes).toHaveLength(2);
});

it('a question that loses two connections is given up', async () => {
  const { upstream, ask } = await askOver((_frame, _say, socket) => socket.terminate());
  await expect(ask('a')).rejects.toEqual(failsWith('upstream_failed', 'unreachable'));
  expect(upstream.received).toHaveLength(2);
});

it.each([
  ['an error for the question', ({ id }: Frame) => ({ type: 'error', id, message: 'key sk-1 is not valid' }), 'upstream_error'],
  ['an error for everybody', () => ({ type: 'error', message: 'shutting down' }), 'upstream_error'],
  ['a body without an ok flag', ({ id }: Frame) => ({ type: 'result', id, body: { results: [] } }), 'bad_response'],
])('%s fails the question, without repeating its words', async (_what, answer, reason) => {
  const { upstream, ask } = await askOver((frame, say) => say(answer(frame)));
  const failure: unknown = await ask('a').catch((error: unknown) => error);
  expect(failure).toEqual(failsWith('upstream_failed', reason));
  expect(JSON.stringify(failure)).not.toMatch(/sk-1|shutting/);
  expect(upstream.received).toHaveLength(1);
});

it('a refusal of the upstream workflow is passed through: ok is false, and that is an answer; an error for somebody else is not', async () => {
  const { ask } = await askOver(({ id }, say) => {
    say({ type: 'error', id: 'nobody' });
    say(`{"type":"result","id":"${id}","body":{"ok":false,"why":1.0}}`);
  });
  expect(await ask('a')).toBe('{"ok":false,"why":1.0}');
});
