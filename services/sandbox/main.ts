import { createSandboxUpstreams } from './sandbox-upstreams';
import { startSandbox } from './start-sandbox';

/** Process entry: `SANDBOX_HOST` (127.0.0.1) and `SANDBOX_PORT` (8090, 0 for a free one); one JSON line on standard output when ready. */
async function main(): Promise<void> {
  const port = Number(process.env['SANDBOX_PORT'] || '8090');
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('SANDBOX_PORT must be a port number');
  const sandbox = await startSandbox({ host: process.env['SANDBOX_HOST'] || '127.0.0.1', port, upstreams: createSandboxUpstreams() });
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
