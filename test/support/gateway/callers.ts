import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../http';

export interface Callers {
  /** @returns how often each status came, and each failure by its message */
  stop(): Promise<Readonly<Record<string, number>>>;
}

/**
 * Callers that ask again and again, each request over a connection of its own: a worker of a gateway that ends closes those that are idle,
 * also as a caller writes, whatever is configured.
 * @param pauseMs of each caller between two requests
 * @param headers of the next request
 */
export function startCallers(
  url: string,
  { count, pauseMs, headers }: { count: number; pauseMs: number; headers: () => Record<string, string> },
): Callers {
  const counts: Record<string, number> = {};
  const agent = new Agent({ keepAlive: false });
  let isRunning = true;
  const call = async (): Promise<void> => {
    while (isRunning) {
      const result = await send(url, { headers: headers(), agent }).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      );
      counts[result] = (counts[result] ?? 0) + 1;
      await sleep(pauseMs);
    }
  };
  const calls = Array.from({ length: count }, call);
  return {
    stop: async () => {
      isRunning = false;
      await Promise.all(calls);
      return counts;
    },
  };
}
