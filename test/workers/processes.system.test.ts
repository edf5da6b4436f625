import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Settings of which each is wrong; what must not be repeated has hunter2 in it. */
const WRONG = {
  apk: { WORKER_PORT: 'x', APK_WORKER_ANALYSES: '0' },
  identity: { WORKER_PORT: 'x', IDENTITY_HMAC_KEY: 'hunter2=', GST_LINK_URL: 'ftp://u:hunter2@h' },
  image: { WORKER_PORT: 'x', IMAGE_ONNX_MODEL: '/no/such/model.onnx' },
  ranking: { RANKING_WEBSOCKET_URL: 'https://u:hunter2@h', RANKING_GOOGLE_PLACES_KEY: 'hunter2 key', RANKING_TIMEOUT_MS: 'soon' },
  seo: { WORKER_PORT: '99999', SEO_SEARXNG_URL: 'ftp://hunter2@x', SEO_TRANCO: 'maybe' },
};
const WORKERS = Object.keys(WRONG) as (keyof typeof WRONG)[];

// That each starts, serves and ends cleanly is held where all of them run with certificates: worker-tls.
it.each(WORKERS)('the process of the %s worker does not start with wrong settings: it names each, and no secret', async (name) => {
  const file = join(__dirname, '../../dist/services/workers', name, 'main.js');
  const failure: any = await promisify(execFile)(process.execPath, [file], { env: WRONG[name] }).catch((error: unknown) => error);
  expect(failure.code).toBe(1);
  for (const setting of Object.keys(WRONG[name])) expect(failure.stderr).toContain(`${setting}: `);
  expect(failure.stderr).not.toContain('hunter2');
});
