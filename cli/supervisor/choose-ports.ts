import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePorts, findFreeRow, isPortFree } from '../postgres/free-port';
import { type InstancePorts } from './plan';

const USUAL_PORT = 8_000;

/** @throws Error, one sentence, when the requested port is taken */
export async function chooseGatewayPort(wanted: number | undefined): Promise<number> {
  if (wanted === undefined && (await isPortFree(USUAL_PORT))) return USUAL_PORT;
  if (wanted) {
    if (await isPortFree(wanted)) return wanted;
    throw new Error(`port ${wanted} is taken by another program; choose one with npm start -- --port N`);
  }
  const [free = 0] = await findFreePorts(1);
  return free;
}

/** The default port of the dashboard, next to the gateway's default. Another port is used when it is taken or is the gateway's. */
const USUAL_DASHBOARD_PORT = 8_080;

/** More consecutive ports than there will ever be products. */
const SERVICE_ROW = 32;

export interface PortOptions {
  /** The gateway's port; see `StartInstanceOptions`. */
  readonly wanted: number | undefined;
  readonly workers: readonly string[];
  readonly dataDir: string;
  /** Receives sentences for the person who starts it. */
  readonly warn: (sentence: string) => void;
}

/** File in which a data folder keeps the dashboard's port, because bookmarks and links in mails contain it. */
const dashboardPortFile = (dataDir: string): string => join(dataDir, 'dashboard-port');

/** Undefined at the first start. */
function readDashboardPort(dataDir: string): number | undefined {
  const file = dashboardPortFile(dataDir);
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

interface DashboardPortOptions extends PortOptions {
  readonly gateway: number;
  /** Used if neither the earlier port nor the default is free. */
  readonly other: number;
}

/** The port of earlier starts. If that is taken, another port until the next start. */
async function chooseDashboardPort({ dataDir, gateway, other, warn }: DashboardPortOptions): Promise<number> {
  const earlier = readDashboardPort(dataDir);
  if (earlier !== undefined) {
    if (earlier !== gateway && (await isPortFree(earlier))) return earlier;
    warn(
      `the dashboard’s last port, ${earlier}, is taken; this time the dashboard is on port ${other}, and earlier links do not lead to it`,
    );
    return other;
  }
  // This port is taken only beside a gateway on its default port. A second instance has another, and must not race the first for this port.
  const isUsual = gateway === USUAL_PORT && (await isPortFree(USUAL_DASHBOARD_PORT));
  const port = isUsual ? USUAL_DASHBOARD_PORT : other;
  writeFileSync(dashboardPortFile(dataDir), `${port}\n`);
  return port;
}

/**
 * Chooses all ports at once, including the embedded database's. A process that looked for its own port later could take one of these before
 * its owner does. The dashboard's port stays the same from start to start.
 * @throws Error, one sentence, when the requested port is taken
 */
export async function choosePorts(options: PortOptions): Promise<InstancePorts & { readonly database: number }> {
  const { wanted, workers, dataDir } = options;
  const gateway = await chooseGatewayPort(wanted);
  const known = new Set([gateway, USUAL_DASHBOARD_PORT, readDashboardPort(dataDir)]);
  const services = await findFreeRow(SERVICE_ROW, known);
  const isTaken = (port: number): boolean => known.has(port) || (port >= services && port < services + SERVICE_ROW);
  const free = (await findFreePorts(2 * workers.length + 8 + SERVICE_ROW)).filter((port) => !isTaken(port));
  const [
    sandbox = 0,
    paymentsSandbox = 0,
    servicesPrivate = 0,
    dashboardPrivate = 0,
    other = 0,
    pluginServerMetrics = 0,
    database = 0,
    ...rest
  ] = free;
  const portsFrom = (first: number): Record<string, number> =>
    Object.fromEntries(workers.map((name, index) => [name, rest[first + index] ?? 0]));
  return {
    database,
    gateway,
    dashboard: await chooseDashboardPort({ ...options, gateway, other }),
    dashboardPrivate,
    sandbox,
    paymentsSandbox,
    services,
    servicesPrivate,
    pluginServerMetrics,
    workers: portsFrom(0),
    workersPrivate: portsFrom(workers.length),
  };
}
