import { compareReports, type ComparedReport, compareInput } from '../../../services/products/app/compare-reports';
import { appService } from '../../../services/products/app/routes';
import { createApkExamples } from '../../../services/sandbox/app/apk-examples';
import { documentOf } from '../../kit/documented-answers';
import { buildHarness, type Harness } from '../../kit/harness';
import { pointer } from '../../support/openapi/documented-api';
import { fc, propertyRuns } from '../../support/fast-check';
import { createVirusTotal } from '../../../services/products/app/virus-total';
import { upstreamFailure } from '../../../services/kit/errors';
import { type UpstreamRequest } from '../../../services/kit/upstream/upstream-client';

const example = createApkExamples().examples.find(({ route, outcome }) => route === '/app/compare' && outcome === 'success');
const input = example?.input as { before: Record<string, unknown>; after: Record<string, unknown> };

/** Compared without any worker: nothing but the two reports is looked at. */
let service: Harness;
beforeAll(async () => (service = await buildHarness(appService)));
afterAll(() => service.app.close());

const ask = (payload: object) => service.call({ method: 'POST', url: '/app/compare', payload });

function read(report: object): ComparedReport {
  return compareInput.parse({ before: report, after: report }).before;
}

const camera = { name: 'android.permission.CAMERA', protection: 'dangerous', max_sdk: null, declared_by_app: false, requested: true };
const library = { name: 'libx.so', abi: 'arm64-v8a', size: 10 };

describe('POST /app/compare', () => {
  const place = pointer('paths', '/app/compare', 'post', 'requestBody', 'content', 'application/json', 'schema');

  it.each<[string, (report: any) => void]>([
    ['nothing changed', () => undefined],
    ['members that are not compared', (report) => (report.package.more = report.more = 1)],
    ['a list of 50,001', (report) => (report.urls = Array.from({ length: 50_001 }, () => 'https://a.example/'))],
    ['no package', (report) => delete report.package],
    ['no lists of the day', (report) => delete report.checked],
    ['a certificate without its hash', (report) => (report.signing.certificates = [{ subject: null, debug: false }])],
    ['an unknown severity', (report) => (report.findings = [{ id: 'a', severity: 'dire', title: 'b' }])],
  ])('takes of %s what the document takes', async (_what, change) => {
    const before = structuredClone(input.before);
    change(before);
    const answer = await ask({ before, after: input.after });
    const violations = documentOf(appService).violations(place, { before, after: input.after });
    expect([answer.statusCode, violations.length > 0]).toEqual([answer.statusCode, answer.statusCode !== 200]);
  });

  it('tells what the later version has that the earlier has not, and the other way about', async () => {
    const answer = await ask(input);
    expect(answer.statusCode).toBe(200);
    const nothing = { added: [], removed: [], changed: [] };
    expect(answer.json()).toEqual({
      status: 'success',
      data: {
        same_file: false,
        same_package: true,
        package: {
          before: { name: 'com.example.sample', version_name: '1.0', version_code: 1, min_sdk: 21, target_sdk: 33 },
          after: { name: 'com.example.sample', version_name: '1.1', version_code: 2, min_sdk: 21, target_sdk: 33 },
        },
        size: { before: 907, after: 1_204 },
        signer: { changed: false, added: [], removed: [] },
        flags: [{ name: 'debuggable', before: true, after: false }],
        permissions: { ...nothing, added: [{ name: 'android.permission.CAMERA', protection: 'dangerous', max_sdk: null }] },
        components: nothing,
        native_libraries: nothing,
        trackers: { ...nothing, added: [{ name: 'Google Firebase Analytics', category: 'analytics' }], same_list: true },
        secrets: { added: [], removed: [] },
        urls: { added: [], removed: [] },
        findings: {
          added: [{ id: 'permission_camera', severity: 'warning', title: 'Asks to take pictures and videos' }],
          removed: [{ id: 'debuggable', severity: 'high', title: 'Debuggable' }],
          changed: [],
        },
        hardening: { before: { score: 25, level: 'medium' }, after: { score: 0, level: 'low' } },
        capability: { before: { score: 0, level: 'low' }, after: { score: 6, level: 'low' } },
        risk: {
          before: { score: 25, level: 'medium', complete: true },
          after: { score: 6, level: 'low', complete: true },
          same_method: true,
        },
      },
      timestamp: '2026-03-14 09:26:53',
    });
  });

  it('takes a report from when there was one score for both, and says null of each', async () => {
    const { hardening: _hardening, capability: _capability, ...old } = input.before;
    const { data } = (await ask({ before: old, after: input.after })).json();
    expect([data.hardening.before, data.capability]).toEqual([null, { before: null, after: { score: 6, level: 'low' } }]);
  });

  it('knows an entry again by its name, whatever else of it changed', async () => {
    const before = { ...input.before, permissions: [camera], native_libraries: [library, { ...library, abi: 'x86_64' }] };
    const after = { ...input.before, permissions: [{ ...camera, max_sdk: 28 }], native_libraries: [{ ...library, size: 11 }] };
    const { data } = (await ask({ before, after })).json();
    const changed = [{ before: expect.objectContaining({ max_sdk: null }), after: expect.objectContaining({ max_sdk: 28 }) }];
    expect(data.permissions).toEqual({ added: [], removed: [], changed });
    const libraries = [{ before: library, after: { ...library, size: 11 } }];
    expect(data.native_libraries).toEqual({ added: [], removed: [{ ...library, abi: 'x86_64' }], changed: libraries });
  });

  it('says that another signed it, and that two apps are not one', async () => {
    const other = { sha256: 'd4'.repeat(32), subject: 'CN=Somebody else', debug: false };
    const app = { ...(input.after['package'] as object), name: 'com.example.other' };
    const { data } = (await ask({ ...input, after: { ...input.after, package: app, signing: { certificates: [other] } } })).json();
    expect(data.same_package).toBe(false);
    expect(data.signer).toEqual({ changed: true, added: [other], removed: [{ ...other, sha256: 'c0'.repeat(32), subject: 'CN=Example' }] });
  });

  it('leaves out what an app only declares for others', async () => {
    const { data } = (await ask({ ...input, after: { ...input.after, permissions: [{ ...camera, requested: false }] } })).json();
    expect(data.permissions).toEqual({ added: [], removed: [], changed: [] });
  });

  it.each([
    ['of other days', [{ source: 'tracker_list', as_of: '2025-01-01', ok: true, entries: 200 }], false],
    ['of which one is not told', [], null],
  ])('says when trackers were looked for with lists %s', async (_which, checked, same) => {
    const { data } = (await ask({ ...input, after: { ...input.after, checked } })).json();
    expect(data.trackers.same_list).toBe(same);
  });

  it.each<[string, object, string]>([
    ['no report', { before: input.before }, 'after is required.'],
    ['a report without its risk', { ...input, after: { ...input.after, risk: undefined } }, 'after.risk is required.'],
    ['an entry that is none', { ...input, after: { ...input.after, urls: ['a', 7, 8] } }, 'after.urls.1 is not as in a report.'],
  ])('refuses %s and names the member', async (_what, payload, detail) => {
    const answer = await ask(payload);
    expect([answer.statusCode, answer.json().code, answer.json().detail]).toEqual([400, 'invalid_request', detail]);
  });

  it('tells one mistake of a list that has nothing else', async () => {
    const answer = await ask({ ...input, after: { ...input.after, findings: Array<number>(50_000).fill(1) } });
    expect(answer.json().errors).toEqual([{ field: 'after.findings.0', message: 'is not as in a report' }]);
    const longer = await ask({ ...input, after: { ...input.after, findings: Array<number>(50_001).fill(1) } });
    expect(longer.json().detail).toContain('after.findings must hold at most 50000 entries');
  });

  it('takes 2 MiB of reports', async () => {
    const answer = await ask({ ...input, after: { ...input.after, urls: ['x'.repeat(2 * 1024 * 1024)] } });
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'payload_too_large']);
  });
});

const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'constructor', '__proto__'), { maxLength: 6 });
const sizes = fc.nat({ max: 2 });
const reports = fc
  .record({ trackers: names, libraries: fc.array(fc.tuple(fc.constantFrom('x', 'y', '__proto__'), sizes)), urls: names })
  .map(({ trackers, libraries, urls }) =>
    read({
      ...input.before,
      trackers: trackers.map((name) => ({ name, category: 'any' })),
      native_libraries: libraries.map(([name, size]) => ({ ...library, name, size })),
      urls,
    }),
  );

describe('a comparison', () => {
  it('leads from the names of the one to those of the other, and the other way about has added and removed exchanged', () => {
    fc.assert(
      fc.property(reports, reports, (one, other) => {
        const [there, back] = [compareReports(one, other), compareReports(other, one)];
        expect(compareReports(one, one)).toMatchObject({ same_file: true, urls: { added: [], removed: [] } });
        const kept = one.urls.filter((each) => !there.urls.removed.includes(each));
        expect(new Set([...kept, ...there.urls.added])).toEqual(new Set(other.urls));
        for (const part of ['trackers', 'native_libraries', 'urls'] as const)
          expect([there[part].added, there[part].removed]).toEqual([back[part].removed, back[part].added]);
        const turned = back.native_libraries.changed.map(({ before, after }) => ({ before: after, after: before }));
        expect(new Set(there.native_libraries.changed.map((each) => JSON.stringify(each)))).toEqual(
          new Set(turned.map((each) => JSON.stringify(each))),
        );
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});

const HASH = 'ab'.repeat(32);
const STATS = { malicious: 3, suspicious: 1, harmless: 2, undetected: 60, timeout: 4, failure: 1, 'type-unsupported': 9 };
const found = (attributes: object): unknown => ({ data: { id: HASH, attributes } });

/** Asks once, and tells what was asked and what failed. */
async function askVirusTotal(answer: () => { status: number; data: unknown }, signal = new AbortController().signal) {
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
    const { asked } = await askVirusTotal(() => ({ status: 404, data: {} }));
    expect(asked).toMatchObject([{ path: `/api/v3/files/${HASH}`, headers: { 'x-apikey': 'vt-secret' }, idempotent: false }]);
  });

  it('counts the engines that gave a verdict, with the day of it', async () => {
    const data = found({ last_analysis_date: 1_767_225_600, last_analysis_stats: STATS });
    const { reputation, failures } = await askVirusTotal(() => ({ status: 200, data }));
    const counts = { malicious: 3, suspicious: 1, engines: 66 };
    expect(reputation).toEqual({ source: 'virustotal', ok: true, known: true, ...counts, as_of: '2026-01-01T00:00:00.000Z' });
    expect(failures).toEqual([]);
  });

  it('is nothing, and no failure, of a file that it has never seen', async () => {
    const { reputation, failures } = await askVirusTotal(() => ({ status: 404, data: { error: { code: 'NotFoundError' } } }));
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
    const { reputation, failures } = await askVirusTotal(answer);
    const nothing = { known: null, malicious: null, suspicious: null, engines: null, as_of: null };
    expect(reputation).toEqual({ source: 'virustotal', ok: false, ...nothing });
    expect(failures).toHaveLength(1);
    expect(String(failures[0])).not.toMatch(/vt-secret|abab/);
  });

  it('ends with its request', async () => {
    const gone = new AbortController();
    const asked = askVirusTotal(() => {
      gone.abort(new Error('left'));
      throw new Error('aborted');
    }, gone.signal);
    await expect(asked).rejects.toThrow('left');
  });
});
