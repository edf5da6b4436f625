// Runs a real supervisor with stub children, as `npm start` runs it with the real ones:
// node dist/test/cli/support/supervise-stubs.js <root> <data folder> <port>[:stubborn] …
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endOnSignals } from '../../../cli/supervisor/end-on-signals';
import { endLeftovers } from '../../../cli/supervisor/end-leftovers';
import { type ProcessTable, Supervisor } from '../../../cli/supervisor/supervisor';

async function main(): Promise<void> {
  const [, , root = '', dataDir = '', ...stubs] = process.argv;
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  // Built, because only a native import() can load an ES module from CommonJS on every supported Node.js.
  const processes = (await import(pathToFileURL(join(root, 'cli', 'bootstrap', 'exclusive.mjs')).href)) as ProcessTable;
  const report = { gateway: 'http://127.0.0.1:1', dashboard: null, sandbox: 'http://127.0.0.1:2', services: {}, dataDir };
  const supervisor = new Supervisor({ report, config: root, metrics: {}, redisUrl: null, quotaTimeZone: 'UTC', processes });
  endOnSignals(() => supervisor);
  await endLeftovers(dataDir, processes);
  await Promise.all(
    stubs.map((stub, index) => {
      const [port = '', habit = ''] = stub.split(':');
      return supervisor.run({
        name: `stub-${index}`,
        command: process.execPath,
        args: [
          '--require',
          join(root, 'cli', 'supervisor', 'exit-with-parent.cjs'),
          join(root, 'test', 'cli', 'support', 'stub-child.mjs'),
          port,
          habit,
        ],
        env: process.env,
        cwd: root,
        logFile: join(dataDir, 'logs', `stub-${index}.log`),
      });
    }),
  );
  process.stdout.write('ready\n');
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
