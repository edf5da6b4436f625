import { once } from 'node:events';
import { type WebSocket } from 'ws';

const EVERYTHING = [
  ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['requestAnimationFrame', 'cancelAnimationFrame', 'requestIdleCallback', 'cancelIdleCallback'] as const),
  ...(['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const),
] as const;
const HELD = {
  timeouts: ['setTimeout', 'clearTimeout'],
  heartbeats: ['setInterval', 'clearInterval'],
} as const;

export interface HeldTime {
  /** Lets that many milliseconds pass at once for what is held. */
  pass(this: void, ms: number): void;
  /** Gives time back; call it however the test ends. */
  release(this: void): void;
}

/**
 * Time-outs or heartbeats of our code come when a test says so, between sockets and promises that are real: whether a peer answered in
 * time then does not depend on when a busy machine gives this process a turn. What Node's own modules time stays real.
 */
export function holdTime(kind: keyof typeof HELD): HeldTime {
  const held: readonly string[] = HELD[kind];
  jest.useFakeTimers({ doNotFake: EVERYTHING.filter((each) => !held.includes(each)) });
  return { pass: (ms) => jest.advanceTimersByTime(ms), release: () => jest.useRealTimers() };
}

export interface Heartbeats {
  /** The peer's end of the link under test; it answers pings by itself. */
  readonly peer: WebSocket | undefined;
  readonly count: number;
  readonly everyMs: number;
}

/**
 * Lets heartbeats of one WebSocket link pass, the next one when the link has got the peer's answer to the last: the peer then pings the
 * link, which answers what it reads in order.
 */
export async function passAnsweredHeartbeats({ pass }: HeldTime, { peer, count, everyMs }: Heartbeats): Promise<void> {
  if (!peer) throw new Error('the link is not connected');
  for (let beat = 0; beat < count; beat++) {
    const pinged = once(peer, 'ping');
    pass(everyMs);
    await pinged;
    const answered = once(peer, 'pong');
    peer.ping();
    await answered;
  }
}
