import { execFileSync } from 'node:child_process';

/** The server process and its backends. */
function processesOf(serverPid: number): number[] {
  const children = execFileSync('sh', ['-c', `pgrep -P ${serverPid} || true`], { encoding: 'utf8' });
  return [serverPid, ...children.split('\n').filter(Boolean).map(Number)];
}

/** Freezes or wakes a whole server, as a machine that hangs would: connections stay open and nothing answers. */
export function signalServer(serverPid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of processesOf(serverPid)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A backend may end between the listing and the signal.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
