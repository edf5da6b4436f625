import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const LOOPBACK = '127.0.0.1';

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen(port, LOOPBACK, () => resolve(probe));
  });
}

async function release(probes: readonly (Server | undefined)[]): Promise<void> {
  await Promise.all(probes.map((probe) => new Promise<void>((resolve) => (probe ? probe.close(() => resolve()) : resolve()))));
}

/** True when nothing listens on the port of the loopback address. */
export async function isPortFree(port: number): Promise<boolean> {
  const probe = await listen(port);
  await release([probe]);
  return probe !== undefined;
}

/**
 * The range of ports to choose from. It ends below 32768, where Linux takes the ports of outgoing connections: such a connection could take
 * a port between the check and its use, or while its process restarts.
 */
const PORTS = { from: 20_000, to: 32_768 } as const;
const ATTEMPTS = 200;

/** `PORT_RANGE=20000-23000` narrows the range, so that installations that start at the same time do not choose the same ports. */
function portRange(): { readonly from: number; readonly to: number } {
  const [, from, to] = /^(\d{4,5})-(\d{4,5})$/.exec(process.env['PORT_RANGE'] ?? '') ?? [];
  return from === undefined || to === undefined ? PORTS : { from: Number(from), to: Number(to) };
}

/** The first of `count` consecutive free ports. @param but ports that must not be among them */
export async function findFreeRow(count: number, but: ReadonlySet<number | undefined> = new Set()): Promise<number> {
  const { from, to } = portRange();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = randomInt(from, to - count);
    const row = Array.from({ length: count }, (_, index) => first + index);
    if (row.some((port) => but.has(port))) continue;
    const probes = await Promise.all(row.map(listen));
    await release(probes);
    if (!probes.includes(undefined)) return first;
  }
  throw new Error(`this machine does not have ${count} consecutive free ports`);
}

/** Distinct free ports. */
export async function findFreePorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await findFreeRow(1));
  return [...found];
}
