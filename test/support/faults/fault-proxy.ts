import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What the line does with bytes and connections. `delayMs` holds every piece back, each way; `hang` keeps connections and passes nothing;
 * `reset` breaks all connections and every new one, and `cut` ends them in order; `drop` keeps those that exist and ends new ones.
 */
export type ProxyMode = 'pass' | 'hang' | 'reset' | 'cut' | 'drop' | { readonly delayMs: number };

/** A TCP line to a server, with the faults that a network has. */
export interface FaultProxy {
  /** The server's URL with the line's address in it. */
  readonly url: string;
  setMode(mode: ProxyMode): void;
  /** Leads to another server from now on, as a name does after a failover; connections to the old one break. */
  switchTo(url: string): void;
  close(): Promise<void>;
}

interface Link {
  readonly near: Socket;
  readonly far: Socket;
}

/** Hands pieces on in their order, each after the delay that held when it came. */
function relay(from: Socket, to: Socket, delayMs: () => number): void {
  let earlier: Promise<unknown> = Promise.resolve();
  const after = (ms: number, work: () => void): void => {
    const dueAt = performance.now() + ms;
    earlier = earlier.then(async () => {
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      work();
    });
  };
  from.on('data', (chunk: Buffer) => after(delayMs(), () => void (to.writable && to.write(chunk))));
  from.on('end', () => after(delayMs(), () => to.end()));
  // A vanished peer is ordinary here; `close` follows.
  from.on('error', () => undefined);
  from.on('close', () => after(0, () => to.destroy()));
}

/** @param url for example `redis://127.0.0.1:6379` */
export async function openFaultProxy(url: string): Promise<FaultProxy> {
  let target = new URL(url);
  let mode: ProxyMode = 'pass';
  const links = new Set<Link>();
  const delayMs = (): number => (typeof mode === 'object' ? mode.delayMs : 0);
  const breakAll = (isInOrder = false): void => {
    for (const { near, far } of links) {
      if (isInOrder) near.destroy();
      else near.resetAndDestroy();
      far.destroy();
    }
  };
  const server = createServer((near) => {
    near.on('error', () => undefined);
    if (mode === 'reset') return void near.resetAndDestroy();
    if (mode === 'drop' || mode === 'cut') return void near.destroy();
    const link = { near, far: connect(Number(target.port), target.hostname) };
    links.add(link);
    near.on('close', () => links.delete(link));
    relay(near, link.far, delayMs);
    relay(link.far, near, delayMs);
    if (mode === 'hang') near.pause();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const own = new URL(url);
  own.port = String(address && typeof address === 'object' ? address.port : 0);
  return {
    url: own.href.replace(/\/$/, ''),
    setMode(next) {
      mode = next;
      if (next === 'reset' || next === 'cut') breakAll(next === 'cut');
      for (const socket of [...links].flatMap(({ near, far }) => [near, far])) {
        if (next === 'hang') socket.pause();
        else socket.resume();
      }
    },
    switchTo(next) {
      target = new URL(next);
      breakAll();
    },
    async close() {
      breakAll();
      await new Promise((done) => server.close(done));
    },
  };
}
