import { appService } from '../../../services/app/routes';
import { analyzeOutput } from '../../../services/app/schema';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { createApkExamples } from '../../../services/sandbox/app/apk-examples';
import { createRandom, mutate } from '../../support/apk/apk-fuzz';
import { startTestWorker, type TestWorker } from '../../support/apk/apk-worker';
import { createHarness, type Harness } from '../kit/harness';
import { testClock } from '../kit/test-clock';
import { fc } from '../../support/fast-check';

let worker: TestWorker;
let service: Harness;

beforeAll(async () => {
  worker = await startTestWorker();
  const tools = {
    common: { sandboxUrl: undefined },
    log: createLog('app', { level: 'silent' }),
    clock: testClock,
    metrics: createMetrics(),
  };
  const deps = await appService.createDeps({ ...tools, settings: appService.settings.parse({ APK_WORKER_URL: worker.server.address }) });
  service = createHarness(appService, { deps });
  service.app.addHook('onClose', () => appService.close?.(deps));
});

afterAll(async () => {
  await service.app.close();
  await worker.close();
});

const sample = Buffer.from(
  (
    createApkExamples().examples.find((each) => each.outcome === 'success' && each.route === '/app/analyze')?.input.file as {
      base64: string;
    }
  ).base64,
  'base64',
);

async function send(payload: Buffer, contentType: string): Promise<{ status: number; body: unknown }> {
  const answer = await service.call({ method: 'POST', url: '/app/analyze', payload, headers: { 'content-type': contentType } });
  return { status: answer.statusCode, body: answer.json() };
}

/** A report of the contract, or a documented refusal: never a fault. */
function expectDocumented({ status, body }: { status: number; body: unknown }): void {
  expect([200, 400, 413, 415, 422]).toContain(status);
  if (status === 200) expect(analyzeOutput.safeParse(body).success).toBe(true);
  else expect(body).toMatchObject({ status, code: expect.any(String), title: expect.any(String), request_id: 'request-1' });
}

test('whatever file is sent, the answer is a report or a documented refusal', async () => {
  const seeds = fc.integer({ min: 0, max: 0x7fffffff });
  await fc.assert(
    fc.asyncProperty(seeds, async (seed) => {
      expectDocumented(await send(mutate(sample, createRandom(seed)), 'application/vnd.android.package-archive'));
    }),
    { numRuns: 100 },
  );
});

test('whatever body and content type are sent, the answer is documented', async () => {
  const types = fc.constantFrom(
    'multipart/form-data; boundary=x',
    'multipart/form-data',
    'application/json',
    'application/x-www-form-urlencoded',
    'application/vnd.android.package-archive',
    'text/plain',
  );
  const pieces = fc.constantFrom(
    '--x',
    '--x--',
    '\r\n',
    'Content-Disposition: form-data; name="file"',
    '; filename="a"',
    'PK\x03\x04',
    '{',
    '=',
    '\0',
  );
  const bodies = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.array(pieces, { minLength: 1, maxLength: 12 }).map((parts) => Buffer.from(parts.join(''), 'latin1')),
  );
  await fc.assert(
    fc.asyncProperty(bodies, types, async (body, type) => expectDocumented(await send(body, type))),
    { numRuns: 200 },
  );
});
