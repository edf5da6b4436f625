import { type Supervisor } from './supervisor';

/** How often the process that started us is looked for. */
const PARENT_CHECK_MS = 500;

/**
 * Ends the instance in order on SIGTERM, SIGINT and SIGHUP, and at once when a second signal says that somebody cannot wait.
 * Under `npm start` it also ends when npm, or the shell between, is gone: some shells do not pass a signal on.
 * @param current the supervisor, or undefined as long as there is nothing to end
 */
export function endOnSignals(current: () => Supervisor | undefined, env: NodeJS.ProcessEnv = process.env): void {
  let ending = false;
  const end = (exitCode: number): void => {
    const supervisor = current();
    if (ending || !supervisor) {
      supervisor?.kill();
      process.exit(exitCode);
    }
    ending = true;
    void supervisor.stop().then(() => process.exit(exitCode));
  };
  process.on('SIGTERM', () => end(0));
  process.on('SIGINT', () => end(0));
  process.on('SIGHUP', () => end(0));
  if (env['npm_lifecycle_event'] !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end(0);
  }, PARENT_CHECK_MS);
  timer.unref();
}
