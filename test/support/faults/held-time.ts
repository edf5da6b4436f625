import { WebSocket } from 'ws';
import { eventually } from '../eventually';

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

/** Lets heartbeats of one WebSocket link pass, the next one as soon as the peer has answered the last. */
export async function passAnsweredHeartbeats({ pass }: HeldTime, { count, everyMs }: { count: number; everyMs: number }): Promise<void> {
  const events = jest.spyOn(WebSocket.prototype, 'emit');
  try {
    for (let beat = 1; beat <= count; beat++) {
      pass(everyMs);
      await eventually(() => events.mock.calls.filter(([name]) => name === 'pong').length === beat);
    }
  } finally {
    events.mockRestore();
  }
}
