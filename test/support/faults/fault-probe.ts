import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../../plugins/core/access/api-key';
import { send } from '../http';
import { isMeasured } from '../measured';
import { isUndecided } from '../system/turn-meter';

/** What is asked all the time, whatever breaks. */
export interface ProbeTarget {
  /** A product's index behind a gateway. */
  readonly url: string;
  /** Valid, with limits that are never reached. */
  readonly key: string;
  /** Was revoked before. */
  readonly revokedKey: string;
  /** What the plugin server answers at `/metrics`. */
  readonly metrics: () => Promise<string>;
}

export type Caller = 'stranger' | 'revoked' | 'valid';

export interface Answer {
  readonly caller: Caller;
  /** 0: the connection broke without an answer. */
  readonly status: number;
  readonly sentAt: number;
  readonly tookMs: number;
  /** Of a refusal; empty where the answer has none. */
  readonly code: string;
  /** See {@link isUndecided}. */
  readonly isUndecided: boolean;
  /** Refused by the service, for want of a proof: the gateway had let it through. */
  readonly hasReachedService: boolean;
}

export interface Probe {
  /** Ends the probing and tells all that was answered. */
  stop(): Promise<Answers>;
  /** What was answered so far. */
  soFar(): Answers;
}

/** Every answer of one probing. */
export class Answers {
  constructor(private readonly all: readonly Answer[]) {}

  of(...callers: readonly Caller[]): readonly Answer[] {
    return this.all.filter(({ caller }) => callers.includes(caller));
  }

  statuses(...callers: readonly Caller[]): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { status } of this.of(...callers)) counts.set(status, (counts.get(status) ?? 0) + 1);
    return new Map([...counts].sort(([a], [b]) => a - b));
  }

  /** Milliseconds from a moment to the last request after it that was not served and has no excuse; 0 when there was none. */
  disturbedFor(since: number, isExcused: (answer: Answer) => boolean = () => false): number {
    const failed = this.of('valid').filter((answer) => answer.sentAt >= since && answer.status !== 200 && !isExcused(answer));
    return Math.round(Math.max(0, ...failed.map(({ sentAt, tookMs }) => sentAt + tookMs - since)));
  }
}

/** Who asks, each as soon as it was answered. */
export const LOOPS: readonly Caller[] = ['stranger', 'revoked', 'valid', 'valid', 'valid', 'stranger', 'revoked', 'valid'];
/** Enough for hundreds of requests in each window, and little enough that the probing is not the fault; a tenth where nothing is measured. */
const PAUSE_MS = isMeasured ? 8 : 80;
const MAX_READINGS = 20;
const NO_ANSWER = { status: 0, text: '' };
const NO_PROOF = '"code":"gateway_proof_missing"';

/** A stranger sends no key, or one that was never issued. */
function headersOf(caller: Caller, target: ProbeTarget, turn: number): Record<string, string> {
  if (caller === 'valid') return { 'X-API-Key': target.key };
  if (caller === 'revoked') return { 'X-API-Key': target.revokedKey };
  return turn % 2 === 0 ? {} : { 'X-API-Key': generateApiKey('live') };
}

/** What a reply tells of who gave it. */
export function judgeReply({
  status,
  text,
}: {
  readonly status: number;
  readonly text: string;
}): Omit<Answer, 'caller' | 'sentAt' | 'tookMs'> {
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  return { status, code, isUndecided: isUndecided({ status, text }), hasReachedService: text.includes(NO_PROOF) };
}

export function startProbe(target: ProbeTarget): Probe {
  const all: Answer[] = [];
  let isRunning = true;
  const loop = async (caller: Caller): Promise<void> => {
    for (let turn = 0; isRunning; turn++) {
      const sentAt = performance.now();
      const reply = await send(target.url, { headers: headersOf(caller, target, turn) }).catch(() => NO_ANSWER);
      all.push({ caller, ...judgeReply(reply), sentAt, tookMs: performance.now() - sentAt });
      await sleep(PAUSE_MS);
    }
  };
  const loops = Promise.all(LOOPS.map(loop));
  return {
    soFar: () => new Answers(all),
    async stop() {
      isRunning = false;
      await loops;
      return new Answers(all);
    },
  };
}

/**
 * Units of today that count against the key's subscription, its own question included.
 * @throws when it is not answered 200; a busy machine's 503, which takes no unit, is asked again
 */
export async function readUsed(target: ProbeTarget): Promise<number> {
  let reply = await send(target.url, { headers: { 'X-API-Key': target.key } });
  for (let tries = 1; reply.status === 503 && tries < MAX_READINGS; tries++) {
    await sleep(200);
    reply = await send(target.url, { headers: { 'X-API-Key': target.key } });
  }
  const { status, headers } = reply;
  const remaining = /"daily";r=(\d+)/.exec(String(headers['ratelimit']))?.[1];
  const limit = /"daily";q=(\d+)/.exec(String(headers['ratelimit-policy']))?.[1];
  if (status !== 200 || remaining === undefined || limit === undefined) throw new Error(`the count cannot be read: ${status}`);
  return Number(limit) - Number(remaining);
}
