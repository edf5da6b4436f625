import { createVirusTotal } from '../../../services/products/app/virus-total';
import { upstreamFailure } from '../../../services/kit/errors';
import { type UpstreamRequest } from '../../../services/kit/upstream/upstream-client';

const HASH = 'ab'.repeat(32);
const STATS = { malicious: 3, suspicious: 1, harmless: 2, undetected: 60, timeout: 4, failure: 1, 'type-unsupported': 9 };
const found = (attributes: object): unknown => ({ data: { id: HASH, attributes } });

/** Asks once, and tells what was asked and what failed. */
async function ask(answer: () => { status: number; data: unknown }, signal = new AbortController().signal) {
  const asked: UpstreamRequest[] = [];
  const failures: unknown[] = [];
  const requestJson = (request: UpstreamRequest) => {
    asked.push(request);
    return Promise.resolve().then(() => ({ headers: {}, bytes: Buffer.alloc(0), ...answer() }));
  };
  const find = createVirusTotal({ client: { requestJson }, mode: 'live', apiKey: 'vt-secret', onFailure: (error) => failures.push(error) });
  return { reputation: await find(HASH, signal), asked, failures };
}

describe('what VirusTotal knows of a file', () => {
  it('is asked for by the hash alone, with the key in a header, once', async () => {
    const { asked } = await ask(() => ({ status: 404, data: {} }));
    expect(asked).toMatchObject([{ path: `/api/v3/files/${HASH}`, headers: { 'x-apikey': 'vt-secret' }, idempotent: false }]);
  });

  it('counts the engines that gave a verdict, with the day of it', async () => {
    const data = found({ last_analysis_date: 1_767_225_600, last_analysis_stats: STATS });
    const { reputation, failures } = await ask(() => ({ status: 200, data }));
    const counts = { malicious: 3, suspicious: 1, engines: 66 };
    expect(reputation).toEqual({ source: 'virustotal', ok: true, known: true, ...counts, as_of: '2026-01-01T00:00:00.000Z' });
    expect(failures).toEqual([]);
  });

  it('is nothing, and no failure, of a file that it has never seen', async () => {
    const { reputation, failures } = await ask(() => ({ status: 404, data: { error: { code: 'NotFoundError' } } }));
    expect(reputation).toMatchObject({ ok: true, known: false, malicious: null, engines: null, as_of: null });
    expect(failures).toEqual([]);
  });

  it.each<[string, () => { status: number; data: unknown }]>([
    ['a refused key', () => ({ status: 401, data: { error: { code: 'WrongCredentialsError' } } })],
    ['counts that are none', () => ({ status: 200, data: found({ last_analysis_stats: { ...STATS, malicious: -1 } }) })],
    [
      'no answer',
      () => {
        throw upstreamFailure(new Error('connection refused'));
      },
    ],
  ])('is unknown, not clean, after %s; the report goes out all the same', async (_what, answer) => {
    const { reputation, failures } = await ask(answer);
    const nothing = { known: null, malicious: null, suspicious: null, engines: null, as_of: null };
    expect(reputation).toEqual({ source: 'virustotal', ok: false, ...nothing });
    expect(failures).toHaveLength(1);
    expect(String(failures[0])).not.toMatch(/vt-secret|abab/);
  });

  it('ends with its request', async () => {
    const gone = new AbortController();
    const asked = ask(() => {
      gone.abort(new Error('left'));
      throw new Error('aborted');
    }, gone.signal);
    await expect(asked).rejects.toThrow('left');
  });
});
