import { SettingsError } from '../../plugins/core/settings';
import { describeError } from '../kit/log';
import { runDashboard } from './run-dashboard';

/** A stop may take 15 s in all; requests that run longer than this are cut off. */
const DRAIN_LIMIT_MS = 12_000;

/** Writes the reason to standard error, scrubbed, and exits: a supervisor starts the process again. */
function fail(message: string, error: unknown): never {
  const text = error instanceof SettingsError ? error.message : JSON.stringify({ level: 'fatal', msg: message, err: describeError(error) });
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

async function main(): Promise<void> {
  const running = await runDashboard(process.env);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), DRAIN_LIMIT_MS).unref();
    void running.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // Must come last: a process that reads this may stop this one at once.
  process.stdout.write(`${JSON.stringify({ ready: true, url: running.url, private: running.privateUrl, pid: process.pid })}\n`);
}

process.on('uncaughtException', (error) => fail('an unhandled error', error));
main().catch((error: unknown) => fail('the dashboard could not start', error));
