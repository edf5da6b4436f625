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

function portOf(probe: Server): number {
  const address = probe.address();
  if (address === null || typeof address === 'string') throw new Error('a port probe has no port');
  return address.port;
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

/** Ports that nobody listens on now, all different: they are held together before any is given back. */
export async function findFreePorts(count: number): Promise<number[]> {
  const probes = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = probes.flatMap((probe) => (probe ? [portOf(probe)] : []));
  await release(probes);
  if (ports.length < count) throw new Error('this machine has no free ports');
  return ports;
}

const ATTEMPTS = 50;
/** Below the ports that systems give to outgoing connections: one of those would take a port of the row before its program does. */
const LOWEST_ROW = 12_000;
const HIGHEST_ROW = 32_000;

/** The first of `count` free ports in a row. */
export async function findFreeRow(count: number): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const first = randomInt(LOWEST_ROW, HIGHEST_ROW - count);
    const row = Array.from({ length: count }, (_, index) => first + index);
    const probes = await Promise.all(row.map((port) => listen(port)));
    await release(probes);
    if (row.length === count && !probes.includes(undefined)) return first;
  }
  throw new Error(`this machine has no ${count} free ports in a row`);
}
