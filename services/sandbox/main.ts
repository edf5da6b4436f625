import { createSandboxUpstreams } from './sandbox-upstreams';
import { startSandbox } from './start-sandbox';

/**
 * Process entry. Reads `SANDBOX_HOST` (127.0.0.1), `SANDBOX_PORT` (8090, 0 for a free one) and the identity worker's `AADHAAR_TEST_SOURCE`
 * and `GST_TEST_SOURCE`; writes one JSON line on standard output when ready.
 */
async function main(): Promise<void> {
  const port = Number(process.env['SANDBOX_PORT'] || '8090');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('SANDBOX_PORT must be a port number');
  const aadhaarSource = process.env['AADHAAR_TEST_SOURCE'] || 'link';
  if (aadhaarSource !== 'link' && aadhaarSource !== 'provider') throw new Error('AADHAAR_TEST_SOURCE must be link or provider');
  const gstSource = process.env['GST_TEST_SOURCE'] || 'link';
  if (gstSource !== 'link' && gstSource !== 'portal') throw new Error('GST_TEST_SOURCE must be link or portal');
  const upstreams = createSandboxUpstreams({ aadhaar: aadhaarSource, gst: gstSource });
  const sandbox = await startSandbox({ host: process.env['SANDBOX_HOST'] || '127.0.0.1', port, upstreams });
  const stop = (): void => {
    void sandbox.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port: sandbox.port })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`the sandbox cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
