import { memberText } from '../../../services/kit/upstream/member-text';
import { parametersOf, parseRankingFrame, rankMessage } from '../../../services/workers/ranking/websocket/ranking-frames';
import { fc, propertyRuns } from '../../support/fast-check';
import { createLog } from '../../../services/kit/log';
import { RankingLink, type RankingLinkOptions } from '../../../services/workers/ranking/websocket/ranking-link';
import { describeJsonLink } from '../../contracts/json-link';
import { type Frame, startScriptedLink } from '../../support/scripted-link';

describe('the frames', () => {
  describe('the text of a member', () => {
    const name = fc.oneof(fc.constantFrom('body', 'id', 'a"b', 'a\\', '{', 'bo\\u0064y'), fc.string());
    const spaces = fc.constantFrom(undefined, 1, '\t');

    it('is what JSON.parse reads there, for every object and every spacing', () => {
      fc.assert(
        fc.property(fc.dictionary(name, fc.jsonValue()), name, spaces, (object, wanted, space) => {
          const found = memberText(JSON.stringify(object, null, space), wanted);
          expect(found === undefined ? undefined : JSON.parse(found)).toEqual(
            Object.hasOwn(object, wanted) ? JSON.parse(JSON.stringify(object[wanted])) : undefined,
          );
        }),
        { numRuns: propertyRuns(500) },
      );
    });

    it('is unchanged, where parsing and printing would change it', () => {
      const body = '{ "ok": true, "cid": 12345678901234567890, "rating": 4.0, "name": "\\u0041}" }';
      expect(memberText(`{"id":"1","body":${body} ,"type":"result"}`, 'body')).toBe(body);
    });

    it('is the last of a name that repeats, as for JSON.parse', () => expect(memberText('{"a":1,"a":[2]}', 'a')).toBe('[2]'));
  });

  describe('the frames of the ranking WebSocket', () => {
    it('ask with the public parameters beside type and id', () => {
      const query = {
      keyword: 'dentist', center: { latitude: 12.9, longitude: 77.5 }, radiusKm: 5, maxResults: 20, businessName: 'Acme', countryCode: 'IN',
    }; // prettier-ignore
      expect(JSON.parse(JSON.stringify(rankMessage('7', parametersOf('position', query))))).toEqual({
      type: 'rank', id: '7', operation: 'position', keyword: 'dentist', latitude: 12.9, longitude: 77.5, business_name: 'Acme',
      radius_km: 5, country_code: 'IN', max_results: 20,
    }); // prettier-ignore
    });

    it.each([
      ['{"type":"result","id":"7","body":{"ok":true,"x":1.0}}', { kind: 'result', id: '7', bodyText: '{"ok":true,"x":1.0}' }],
      ['{"type":"result","id":"7","body":{"results":[]}}', { kind: 'result', id: '7', bodyText: undefined }],
      ['{"id":"7","body":{"ok":true}}', { kind: 'result', id: '7', bodyText: undefined }],
      ['{"type":"error","id":"7","message":"no"}', { kind: 'error', id: '7' }],
      ['{"type":"error"}', { kind: 'error', id: undefined }],
      ['{"type":"welcome"}', { kind: 'unknown' }],
    ])('%s is understood', (text, frame) => expect(parseRankingFrame({ text, value: JSON.parse(text) })).toEqual(frame));
  });
});

describe('the link', () => {
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
});
