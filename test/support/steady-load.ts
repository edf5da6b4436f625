import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/api-key';
import { type BalancedClient, type BalancedRequest } from './balanced-client';

export interface LoadReport {
  /** With a valid key. */
  sent: number;
  /** Answers other than 200 to those, and requests without an answer: `POST /app/analyze 502`. */
  failed: string[];
  /** Without a key, or with one that was never issued. */
  probes: number;
  /** Answers other than 401 to those. */
  admitted: string[];
}

export interface SteadyLoad {
  report(): Readonly<LoadReport>;
  stop(): Promise<Readonly<LoadReport>>;
}

/** Loops of each kind. */
const LOOPS = 4;
/** Between two requests of a loop: the load is there all the time, and leaves the machine room to restart things. */
const PAUSE_MS = 15;

/** Sends these requests in turn, and the same without a right to them, until told to stop. */
export function startSteadyLoad(client: BalancedClient, requests: readonly BalancedRequest[], apiKey: string): SteadyLoad {
  const report: LoadReport = { sent: 0, failed: [], probes: 0, admitted: [] };
  let running = true;
  let turn = 0;

  async function statusOf(request: BalancedRequest, key: string | undefined): Promise<string> {
    const headers = { ...request.headers, ...(key === undefined ? {} : { 'X-API-Key': key }) };
    const outcome = await client.send({ ...request, headers }).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    return outcome;
  }
  const nameOf = ({ method = 'GET', path }: BalancedRequest): string => `${method} ${path}`;
  const next = (): BalancedRequest => requests[turn++ % requests.length] ?? { path: '/' };

  async function use(): Promise<void> {
    while (running) {
      const request = next();
      const status = await statusOf(request, apiKey);
      report.sent++;
      if (status !== '200') report.failed.push(`${nameOf(request)} ${status}`);
      await sleep(PAUSE_MS);
    }
  }
  async function probe(): Promise<void> {
    for (let round = 0; running; round++) {
      const request = next();
      const status = await statusOf(request, round % 2 === 0 ? undefined : generateApiKey('test'));
      report.probes++;
      if (status !== '401') report.admitted.push(`${nameOf(request)} ${status}`);
      await sleep(PAUSE_MS);
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, () => [use(), probe()]).flat());
  return {
    report: () => report,
    async stop() {
      running = false;
      await loops;
      return report;
    },
  };
}
