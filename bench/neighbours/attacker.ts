import { send, type Sending } from '../../test/support/http';
import { type Damage } from './observe-attack';

/** One attempt of an attacker. */
export interface Shot {
  /** 0: no response. */
  readonly status: number;
  /** True if it took one of the attacker's own units. */
  readonly charged: boolean;
}

export const NO_ANSWER: Shot = { status: 0, charged: false };

/** Sends one request and reads only its outcome. */
export async function shoot(url: string, sending: Sending = {}): Promise<Shot> {
  try {
    const { status, headers } = await send(url, sending);
    return { status, charged: headers['x-tollgate-charged'] === '1' };
  } catch {
    return NO_ANSWER;
  }
}

/** Adds up the results of shots. */
export class DamageCount {
  private attempts = 0;
  private charged = 0;
  private readonly statuses = new Map<number, number>();

  add({ status, charged }: Shot): void {
    this.attempts++;
    if (charged) this.charged++;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  total(): Damage {
    return { attempts: this.attempts, charged: this.charged, statuses: new Map([...this.statuses].sort(([a], [b]) => a - b)) };
  }
}

/** Runs `count` loops; each sends its next shot when the last one has a response. */
export async function inLoops(count: number, signal: AbortSignal, shot: (index: number) => Promise<Shot>): Promise<Damage> {
  const damage = new DamageCount();
  let next = 0;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const result = await shot(next++);
      // A request that was cut off by the end of the attack does not count as an attempt.
      if (!signal.aborted) damage.add(result);
    }
  };
  await Promise.all(Array.from({ length: count }, loop));
  return damage.total();
}

const BEAT_MS = 20;

/** Sends this many shots a second, whether or not they get a response. */
export async function atRate(perSecond: number, signal: AbortSignal, shot: (index: number) => Promise<Shot>): Promise<Damage> {
  const damage = new DamageCount();
  const open: Promise<void>[] = [];
  const count = (result: Shot): void => damage.add(result);
  const startedAt = performance.now();
  let sent = 0;
  await new Promise<void>((done) => {
    const timer = setInterval(() => {
      if (signal.aborted) {
        clearInterval(timer);
        return done();
      }
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond);
      while (sent < due) open.push(shot(sent++).then(count));
      return undefined;
    }, BEAT_MS);
  });
  await Promise.all(open);
  return damage.total();
}
