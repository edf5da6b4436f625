import { X509Certificate } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statfsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { type Command } from 'commander';
import { type Pool } from 'pg';
import { ACCESS_LAYER } from '../../plugins/access-layer/plugin';
import { CommandError } from '../command-error';
import { readNodes, readStoreHealth } from '../../services/selling/operators/read-nodes';
import { sharesSessions } from '../../plugins/stores/postgres/shared-sessions';
import { readMigrationStanding } from '../postgres/migrations';
import { dataFolder, socketPath } from '../supervisor/data-folder';
import { type InstanceState, readState } from '../supervisor/instance-state';
import { type Finding, judgeSystem, type ServerCertificate, type DatabaseFacts, type LoggedError, type SystemFacts } from './judge-system';
import { checkFiles } from './check';
import { type CommandContext, describeDatabase, finishCommand, findDatabaseUrl, withDatabase } from './command-context';

const HELP = `
It looks at the instance that runs from this folder, or at DATABASE_URL, REDIS_URL, PLUGIN_SOCKET, GATEWAY_URL and DASHBOARD_URL:
versions, database, migrations, clocks, Redis, plugin server, change feed, responses, outbox, socket, gateway, Kong's files,
certificates, disk and the last errors. It changes nothing and prints no secret. The exit code is 1 if something is wrong.`;

const SIGNS = { well: '✓', unwell: '✗', unknown: '·' } as const;

function show(findings: readonly Finding[]): string {
  return findings
    .flatMap(({ name, state, saw, todo }) => [`${SIGNS[state]} ${name}: ${saw}`, ...(todo === undefined ? [] : [`  → ${todo}`])])
    .join('\n');
}

/** `tollgate doctor` */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  finishCommand(program.command('doctor').description('show what is wrong with a running system, and what to do'))
    .addHelpText('after', HELP)
    .action(async () => {
      const facts = await readSystem(context, { version: ACCESS_LAYER.Version, files: await checkFiles(context) });
      const findings = judgeSystem(facts);
      const lookedAt = describeDatabase(context);
      const unwell = findings.filter(({ state }) => state === 'unwell').map(({ name }) => name);
      context.output.result({ ok: unwell.length === 0, lookedAt, findings }, () => `${show(findings)}\nlooked at: ${lookedAt}`);
      if (unwell.length > 0) throw new CommandError('unwell', `something is wrong with: ${[...new Set(unwell)].join(', ')}`);
    });
}

/** Milliseconds. Anything that takes longer counts as unreachable. */
const PATIENCE_MS = 3_000;

/** A response is reported within seconds of its end; most requests end within a minute. */
const RESPONSES = `
SELECT count(*)::integer AS admitted, count(status)::integer AS reported FROM decision
WHERE outcome = 'admitted' AND at BETWEEN now() - interval '10 minutes' AND now() - interval '1 minute'`;
/** Mails and deliveries to webhooks. A webhook that its owner has paused gets none. */
const OVERDUE = `
SELECT count(*)::integer AS count, COALESCE(extract(epoch FROM now() - min(due_at)) * 1000, 0)::float8 AS "oldestMs"
FROM outbox WHERE due_at < now() AND (lane IS NULL OR lane NOT IN (SELECT id FROM webhook WHERE state = 'paused'))`;

async function readRow<Row extends object>(db: Pool, text: string, none: Row): Promise<Row> {
  return (await db.query<Row>(text)).rows[0] ?? none;
}

async function readDatabase(db: Pool, url: string): Promise<DatabaseFacts> {
  // The first query also waits for the connection.
  await db.query('SELECT');
  const start = Date.now();
  const { clockMs } = await readRow(db, 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "clockMs"', { clockMs: 0 });
  const answeredInMs = Date.now() - start;
  const migrations = await readMigrationStanding(db);
  const health = await readStoreHealth(db);
  const base = {
    clockMs,
    ownClockMs: start + answeredInMs / 2,
    answeredInMs,
    sharesSessions: await sharesSessions(url),
    health,
    migrations,
  };
  const none = { nodes: [], responses: { admitted: 0, reported: 0 }, overdue: { count: 0, oldestMs: 0 } };
  // Without all migrations, tables may be missing.
  if (migrations.pending.length > 0) return { ...base, ...none };
  return {
    ...base,
    nodes: await readNodes(db),
    responses: await readRow(db, RESPONSES, none.responses),
    overdue: await readRow(db, OVERDUE, none.overdue),
  };
}

function listensOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path).setTimeout(PATIENCE_MS, () => probe.destroy(new Error('late')));
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}

/** Reads only the certificate's end. Trust is for the client to check. */
function endOfServed(url: URL): Promise<number | undefined> {
  return new Promise((resolve) => {
    const { hostname: host, port } = url;
    const socket = connectTls({ host, port: Number(port || 443), servername: host, rejectUnauthorized: false });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error('late')));
    socket.once('secureConnect', () => {
      const ends = Date.parse(socket.getPeerCertificate().valid_to);
      socket.destroy();
      resolve(Number.isNaN(ends) ? undefined : ends);
    });
    socket.once('error', () => resolve(undefined));
  });
}

function endOfFile(value: string): number | undefined {
  try {
    const pem = value.includes('-----BEGIN ') ? value : readFileSync(value);
    return Date.parse(new X509Certificate(pem).validTo);
  } catch {
    return undefined;
  }
}

const ADDRESSES = ['DASHBOARD_URL', 'GATEWAY_URL'] as const;
const FILES = ['WORKER_TLS_CA', 'WORKER_TLS_CERT'] as const;

async function readCertificates(env: NodeJS.ProcessEnv): Promise<ServerCertificate[]> {
  const served = ADDRESSES.flatMap((name) => {
    const url = env[name];
    return url !== undefined && URL.canParse(url) && url.startsWith('https:') ? [{ name, url: new URL(url) }] : [];
  });
  const files = FILES.flatMap((name) => (env[name] ? [{ name, endsAtMs: endOfFile(env[name]) }] : []));
  return [...(await Promise.all(served.map(async ({ name, url }) => ({ name, endsAtMs: await endOfServed(url) })))), ...files];
}

const ERROR_LEVEL = /"level":(?:5\d|6\d|"(?:error|fatal)")/;
const HOUR_MS = 3_600_000;
const MAX_TEXT = 200;

/** The message alone, because other members of a line may name people. */
function errorIn(line: string, process: string, nowMs: number): LoggedError | undefined {
  if (!ERROR_LEVEL.test(line)) return undefined;
  try {
    const { time, msg } = JSON.parse(line) as { readonly time?: unknown; readonly msg?: unknown };
    const atMs = typeof time === 'number' ? time : Date.parse(String(time));
    return typeof msg === 'string' && nowMs - atMs < HOUR_MS ? { process, atMs, text: msg.slice(0, MAX_TEXT) } : undefined;
  } catch {
    return undefined;
  }
}

const MAX_TAIL = 65_536;

function tailOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const tail = Buffer.alloc(MAX_TAIL);
    const read = readSync(descriptor, tail, { position: Math.max(0, fstatSync(descriptor).size - MAX_TAIL) });
    return tail.toString('utf8', 0, read);
  } finally {
    closeSync(descriptor);
  }
}

function readErrors(folder: string, nowMs: number): LoggedError[] | undefined {
  if (!existsSync(folder)) return undefined;
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'));
  const errors = logs.flatMap((name) =>
    tailOf(join(folder, name))
      .split('\n')
      .flatMap((line) => errorIn(line, name.slice(0, -'.log'.length), nowMs) ?? []),
  );
  return errors.sort((one, other) => other.atMs - one.atMs);
}

function readDisk(folder: string): SystemFacts['disk'] {
  const path = existsSync(folder) ? folder : dirname(folder);
  const { bavail, blocks, bsize } = statfsSync(path);
  return { path, freeBytes: bavail * bsize, bytes: blocks * bsize };
}

interface Places {
  readonly state: InstanceState | undefined;
  readonly folder: string;
}

/** Places of the instance that runs from this folder, unless the environment names others. */
function findPlaces({ root, env, isSameProcess }: CommandContext): Places {
  const folder = dataFolder(root, env);
  const state = readState(folder);
  return { folder, state: state && isSameProcess(state.supervisor) ? state : undefined };
}

async function readSocket(env: NodeJS.ProcessEnv, { state, folder }: Places): Promise<SystemFacts['socket']> {
  const path = env['PLUGIN_SOCKET'] || (state && socketPath(folder, 'plugin.sock'));
  return path ? { path, answers: await listensOn(path) } : undefined;
}

async function readGateway(env: NodeJS.ProcessEnv, { state }: Places): Promise<SystemFacts['gateway']> {
  const url = env['GATEWAY_URL'] || state?.gateway;
  return url !== undefined && URL.canParse(url) ? { url: new URL(url).origin, status: await statusOf(url) } : undefined;
}

/** Reads what can be seen of a running system from here. Never throws for unreachable parts. */
async function readSystem(context: CommandContext, { version, files }: Pick<SystemFacts, 'version' | 'files'>): Promise<SystemFacts> {
  const { env } = context;
  const places = findPlaces(context);
  const nowMs = Date.now();
  const database = await withDatabase(context, (db) => readDatabase(db, findDatabaseUrl(context))).catch((error: unknown) =>
    error instanceof Error ? error.message : 'cannot be read',
  );
  return {
    nowMs,
    version,
    node: process.versions.node,
    database,
    usesRedis: Boolean(env['REDIS_URL'] || places.state?.redisUrl),
    socket: await readSocket(env, places),
    gateway: await readGateway(env, places),
    files,
    certificates: await readCertificates(env),
    disk: readDisk(places.folder),
    errors: readErrors(join(places.folder, 'logs'), nowMs),
  };
}
