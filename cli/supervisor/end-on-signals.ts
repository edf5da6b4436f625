import { type Supervisor } from './supervisor';

/** Milliseconds between two checks that the parent process lives. */
const PARENT_CHECK_MS = 500;

/** One Ctrl-C arrives twice if npm forwards a signal that the terminal has already sent to the whole group. */
const ONE_KEYSTROKE_MS = 1_000;

type Cause = 'signal' | 'parent gone';

/**
 * The reaction to a cause to end.
 * @param sinceFirstMs milliseconds since the first cause, undefined for the first
 */
export function reactionTo(cause: Cause, sinceFirstMs: number | undefined): 'stop' | 'kill' | 'nothing' {
  if (sinceFirstMs === undefined) return 'stop';
  // The shell between npm and this process dies of the same signal, so its end is not a second signal.
  return cause === 'signal' && sinceFirstMs >= ONE_KEYSTROKE_MS ? 'kill' : 'nothing';
}

/**
 * Ends the instance in order on SIGTERM, SIGINT and SIGHUP, and at once on a second signal. Under `npm start` it also ends when npm, or the
 * shell between, is gone, because some shells do not pass a signal on.
 * @param current the supervisor, or undefined while there is nothing to end
 */
export function endOnSignals(current: () => Supervisor | undefined): void {
  let firstAt: number | undefined;
  const end = (cause: Cause): void => {
    const reaction = reactionTo(cause, firstAt === undefined ? undefined : performance.now() - firstAt);
    if (reaction === 'nothing') return;
    firstAt ??= performance.now();
    const supervisor = current();
    if (reaction === 'kill' || !supervisor) {
      supervisor?.kill();
      process.exit(0);
    }
    void supervisor.stop().then(() => process.exit(0));
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end('signal'));
  if (process.env['npm_lifecycle_event'] !== 'start') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end('parent gone');
  }, PARENT_CHECK_MS);
  timer.unref();
}
