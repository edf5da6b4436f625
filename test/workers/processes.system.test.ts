import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadWorkerService } from '../../services/kit/worker/load-proto';
import { GrpcWorkerClient } from '../../services/kit/worker/worker-client';
import { endProgram, startProgram } from '../support/system/program';

/** Settings of which each is wrong; what must not be repeated has hunter2 in it. */
const WRONG = {
  apk: { WORKER_PORT: 'x', APK_WORKER_ANALYSES: '0' },
  identity: { WORKER_PORT: 'x', IDENTITY_HMAC_KEY: 'hunter2=', GST_LINK_URL: 'ftp://u:hunter2@h' },
  image: { WORKER_PORT: 'x', IMAGE_ONNX_MODEL: '/no/such/model.onnx' },
  ranking: { RANKING_WEBSOCKET_URL: 'https://u:hunter2@h', RANKING_GOOGLE_PLACES_KEY: 'hunter2 key', RANKING_TIMEOUT_MS: 'soon' },
  seo: { WORKER_PORT: '99999', SEO_SEARXNG_URL: 'ftp://hunter2@x', SEO_TRANCO: 'maybe' },
};
const WORKERS = Object.keys(WRONG) as (keyof typeof WRONG)[];

describe.each(WORKERS)('the process of the %s worker', (name) => {
  const program = `services/workers/${name}/main.js`;

  it('says on one line where it listens, serves, and ends cleanly on SIGTERM', async () => {
    const { child, ready } = await startProgram(program, { env: { WORKER_PORT: '0', LOG_LEVEL: 'silent' } });
    try {
      expect(ready).toEqual({ ready: true, port: expect.any(Number) });
      const client = new GrpcWorkerClient({ service: loadWorkerService(name), addresses: [`127.0.0.1:${Number(ready.port)}`], name });
      await client.checkHealth(60_000);
      client.close();
    } finally {
      expect(await endProgram(child)).toBe(0);
    }
  });

  it('does not start with wrong settings: it names each, and no secret', async () => {
    const file = join(__dirname, '../../dist', program);
    const failure: any = await promisify(execFile)(process.execPath, [file], { env: WRONG[name] }).catch((error: unknown) => error);
    expect(failure.code).toBe(1);
    for (const setting of Object.keys(WRONG[name])) expect(failure.stderr).toContain(`${setting}: `);
    expect(failure.stderr).not.toContain('hunter2');
  });
});
