import { parseArgs } from 'node:util';
import { SettingsError } from '../../plugins/core/settings';
import { describeError } from '../kit/log';
import { isServiceName, loadService, SERVICE_NAMES, type ServiceName } from './registry';
import { runServices } from './run-services';

/** Requests that still run this long after the last one was taken are cut off: under `npm start`, a stop may take 15 s in all. */
const DRAIN_LIMIT_MS = 12_000;

const USAGE = `usage: main.js --service NAME [--service NAME …] | --all | --none
  NAME: ${SERVICE_NAMES.join(', ')}
  --none: no service, only /refunds for APIs of your own
`;

/** The services that the command line names; undefined if it cannot be understood. */
function chosenServices(args: readonly string[]): readonly ServiceName[] | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { service: { type: 'string', multiple: true }, all: { type: 'boolean' }, none: { type: 'boolean' } },
    });
    const { service: names = [], all, none } = values;
    if ([all, none, names.length > 0].filter(Boolean).length !== 1) return undefined;
    const known = names.filter(isServiceName);
    return all ? SERVICE_NAMES : known.length === names.length ? known : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const names = chosenServices(process.argv.slice(2));
  if (!names) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const running = await runServices(await Promise.all(names.map(loadService)), process.env);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), running.leaveMs + DRAIN_LIMIT_MS).unref();
    void running.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // Written last, because a process that reads it may stop this one at once.
  process.stdout.write(`${JSON.stringify({ ready: true, services: running.services, private: running.privateUrl, pid: process.pid })}\n`);
}

/** Logs the scrubbed reason on standard error, and exits. A supervisor starts the process again. */
function fail(message: string, error: unknown): never {
  const text = error instanceof SettingsError ? error.message : JSON.stringify({ level: 'fatal', msg: message, err: describeError(error) });
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

process.on('uncaughtException', (error) => fail('an unhandled error', error));
main().catch((error: unknown) => fail('the services could not start', error));
