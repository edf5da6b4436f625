import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../../plugins/core/access/api-key';
import { type BalancedClient, type BalancedRequest } from './balanced-client';
import { isUndecided, sayExcused, startTurnMeter } from './turn-meter';

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

/** An answer that should have been another, unless the access layer had no turns to decide in. */
interface Suspect {
  readonly list: string[];
  readonly what: string;
  readonly isExcused: () => boolean;
}

/** Loops of each kind. */
const LOOPS = 2;
/** Between two requests of a loop: the load is there all the time, and leaves the machine room to restart things. */
const PAUSE_MS = 80;
/** Refusals show what they have to show more rarely. */
const PROBE_PAUSE_MS = 200;

/** Sends these requests in turn, and the same without a right to them, until told to stop. */
export function startSteadyLoad(client: BalancedClient, requests: readonly BalancedRequest[], apiKey: string): SteadyLoad {
  const report: LoadReport = { sent: 0, failed: [], probes: 0, admitted: [] };
  let running = true;
  let turn = 0;

  const meter = startTurnMeter();
  const suspects: Suspect[] = [];

  /** Sends it once, and keeps any other answer than the wanted one to be judged at the end. */
  async function expectStatus(wanted: number, request: BalancedRequest, { key, list }: { key?: string; list: string[] }): Promise<void> {
    const headers = { ...request.headers, ...(key === undefined ? {} : { 'X-API-Key': key }) };
    const sentAt = performance.now();
    const reply = await client
      .send({ ...request, headers })
      .catch((error: unknown) => ({ status: error instanceof Error ? error.message : String(error), text: '' }));
    if (reply.status === wanted) return;
    const answer = { sentAt, tookMs: performance.now() - sentAt };
    const status = typeof reply.status === 'number' ? reply.status : 0;
    const isExcused = (): boolean => isUndecided({ status, text: reply.text }) && meter.wasShortOfTurns(answer);
    suspects.push({ list, what: `${nameOf(request)} ${reply.status}`, isExcused });
  }
  const nameOf = ({ method = 'GET', path }: BalancedRequest): string => `${method} ${path}`;
  const next = (): BalancedRequest => requests[turn++ % requests.length] ?? { path: '/' };

  async function use(): Promise<void> {
    while (running) {
      const request = next();
      await expectStatus(200, request, { key: apiKey, list: report.failed });
      report.sent++;
      await sleep(PAUSE_MS);
    }
  }
  async function probe(): Promise<void> {
    for (let round = 0; running; round++) {
      const request = next();
      await expectStatus(401, request, { list: report.admitted, ...(round % 2 === 1 && { key: generateApiKey('test') }) });
      report.probes++;
      await sleep(PROBE_PAUSE_MS);
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, () => [use(), probe()]).flat());
  return {
    report: () => report,
    async stop() {
      running = false;
      await loops;
      meter.stop();
      const unexcused = suspects.filter(({ isExcused }) => !isExcused());
      for (const { list, what } of unexcused) list.push(what);
      sayExcused(suspects.length - unexcused.length);
      suspects.length = 0;
      return report;
    },
  };
}
