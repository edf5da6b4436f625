import { type MigrationStanding } from '../postgres/migrations';
import { type NodeHealth, type StoreHealth } from '../../services/selling/operators/read-nodes';

/** Facts that the database reports of itself, and of the processes that write to it. */
export interface DatabaseFacts {
  /** Unix milliseconds by its clock, and by this machine's clock at the same time. */
  readonly clockMs: number;
  readonly ownClockMs: number;
  readonly answeredInMs: number;
  /** True if a pooler gives each transaction another session; undefined: it could not be determined. */
  readonly sharesSessions: boolean | undefined;
  readonly health: StoreHealth;
  readonly migrations: MigrationStanding;
  readonly nodes: readonly NodeHealth[];
  /** Admitted requests of the last minutes in the log, and how many of them have a response. */
  readonly responses: { readonly admitted: number; readonly reported: number };
  /** Number of overdue messages, and how late the oldest is. */
  readonly overdue: { readonly count: number; readonly oldestMs: number };
}

export interface ServerCertificate {
  /** The setting or address of the certificate. */
  readonly name: string;
  /** Unix milliseconds; undefined when it could not be read. */
  readonly endsAtMs: number | undefined;
}

export interface LoggedError {
  readonly process: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly text: string;
}

/** Facts that were read of a running system. Undefined: it does not exist, or is not on this machine. */
export interface SystemFacts {
  readonly nowMs: number;
  /** Versions of this command's Tollgate and of Node. */
  readonly version: string;
  readonly node: string;
  /** The facts, or the reason why there are none. */
  readonly database: DatabaseFacts | string;
  readonly usesRedis: boolean;
  readonly socket: { readonly path: string; readonly answers: boolean } | undefined;
  readonly gateway: { readonly url: string; readonly status: number | undefined } | undefined;
  /** What `check` reports of the files that Kong reads. */
  readonly files: readonly string[];
  readonly certificates: readonly ServerCertificate[];
  readonly disk: { readonly path: string; readonly freeBytes: number; readonly bytes: number };
  /** Errors of the last hour, the latest first; undefined if this machine has no logs. */
  readonly errors: readonly LoggedError[] | undefined;
}

/** `unknown`: it cannot be determined from here. */
export interface Finding {
  readonly name: string;
  readonly state: 'well' | 'unwell' | 'unknown';
  /** The observation. */
  readonly saw: string;
  /** Present if something is wrong. */
  readonly todo?: string;
}

const MAX_CLOCK_MS = 2_000;
const MAX_CONNECTIONS_SHARE = 0.9;
const MIN_FREE_SHARE = 0.05;
const MIN_CERTIFICATE_MS = 14 * 86_400_000;
const MAX_OVERDUE_MS = 10 * 60_000;
const MAX_LAG_MS = 1_000;

const well = (name: string, saw: string): Finding => ({ name, state: 'well', saw });
const unknown = (name: string, saw: string): Finding => ({ name, state: 'unknown', saw });
const unwell = (name: string, saw: string, todo: string): Finding => ({ name, state: 'unwell', saw, todo });

const isRunning = ({ state }: NodeHealth): boolean => state === 'live' || state === 'reading';
const minutes = (ms: number): string => `${Math.round(ms / 60_000)} min`;
const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
const listed = (texts: readonly string[]): string => [...new Set(texts)].join(', ');

function judgeVersions({ version, node, database }: SystemFacts): Finding {
  const saw = `Tollgate ${version}, Node.js ${node}`;
  if (typeof database === 'string') return unknown('versions', saw);
  const others = database.nodes.filter((each) => isRunning(each) && each.version !== null && each.version !== version);
  if (others.length === 0) return well('versions', saw);
  return unwell(
    'versions',
    `${saw}; ${listed(others.map((each) => `${each.name} runs ${each.version}`))}`,
    'Finish the upgrade: docs/operate/upgrade.md.',
  );
}

function judgeMigrations({ migrations: { pending, unknown: newer } }: DatabaseFacts): Finding {
  if (newer.length > 0)
    return unwell('migrations', `of a newer version: ${listed(newer)}`, 'Use the newer version: docs/operate/upgrade.md.');
  if (pending.length === 0) return well('migrations', 'all applied');
  return unwell(
    'migrations',
    `not applied: ${listed(pending)}`,
    'npm start applies them; so does the service migrate: docs/operate/upgrade.md.',
  );
}

function judgeClock({ clockMs, ownClockMs }: DatabaseFacts): Finding {
  const apart = Math.abs(clockMs - ownClockMs);
  const saw = `this machine and the database are ${Math.round(apart)} ms apart`;
  if (apart <= MAX_CLOCK_MS) return well('clocks', saw);
  return unwell('clocks', saw, 'Start time synchronisation (chrony, systemd-timesyncd) on both: proofs and links end by the clock.');
}

function judgeStore({ health: { version, connections, mostConnections, bytes }, answeredInMs }: DatabaseFacts): Finding {
  const saw = `PostgreSQL ${version} responded in ${Math.round(answeredInMs)} ms, ${connections} of ${mostConnections} connections, ${gigabytes(bytes)}`;
  if (connections <= mostConnections * MAX_CONNECTIONS_SHARE) return well('database', saw);
  return unwell('database', saw, 'Raise max_connections, or close connections that are not needed: docs/operate/scale.md#capacity.');
}

function judgeSessions({ sharesSessions }: DatabaseFacts): Finding {
  if (sharesSessions === undefined) return unknown('sessions', 'two more connections could not be opened');
  if (!sharesSessions) return well('sessions', 'each connection has its own session');
  return unwell(
    'sessions',
    'a pooler shares sessions between transactions: nodes do not hear of revoked keys, and statements fail',
    'Connect to PostgreSQL directly, or through a pooler with pool_mode = session.',
  );
}

function judgeRedis({ usesRedis }: SystemFacts, live: readonly NodeHealth[]): Finding {
  const away = live.filter(({ redisAnswers }) => redisAnswers === false);
  if (away.length > 0)
    return unwell(
      'redis',
      `does not respond to ${listed(away.map(({ name }) => name))}`,
      'Bring Redis back. PostgreSQL counts in the meantime, and the counts are merged.',
    );
  if (live.some(({ redisAnswers }) => redisAnswers === true)) return well('redis', 'counts');
  return usesRedis ? unknown('redis', 'no plugin server reports whether it responds') : well('redis', 'none; PostgreSQL counts');
}

function judgeNodes({ nodes }: DatabaseFacts): Finding[] {
  const live = nodes.filter(isRunning);
  const reading = live.filter(({ state }) => state === 'reading');
  const late = live.filter(({ longestLagMs }) => (longestLagMs ?? 0) > MAX_LAG_MS);
  const lag = Math.round(Math.max(0, ...live.map(({ longestLagMs }) => longestLagMs ?? 0)));
  const feed = (): Finding => {
    if (reading.length > 0)
      return unwell(
        'change feed',
        `lost by ${listed(reading.map(({ name }) => name))}`,
        'Look for a pooler that drops LISTEN, and at the network. The feed recovers by itself.',
      );
    const saw = `changes of keys reached every node within ${lag} ms in the last day`;
    return late.length === 0
      ? well('change feed', saw)
      : unwell('change feed', saw, 'Look at the event loop lag of the plugin server: docs/operate/scale.md#gateways.');
  };
  const gone = nodes.length - live.length;
  const saw = `${live.length} running${gone > 0 ? `, ${gone} ended within a day` : ''}`;
  if (live.length === 0)
    return [
      unwell(
        'plugin server',
        saw,
        'Start it and read the end of its log: docs/operate/monitor.md#first-look. Kong responds with 500 until then.',
      ),
      unknown('change feed', 'no plugin server runs'),
    ];
  return [well('plugin server', saw), feed()];
}

function judgeResponses({ responses: { admitted, reported } }: DatabaseFacts): Finding {
  const saw = `${reported} of ${admitted} admitted requests of the last minutes have a response`;
  if (admitted === 0) return unknown('responses', 'no request was admitted in the last minutes');
  return reported > 0
    ? well('responses', saw)
    : unwell('responses', saw, 'Check that the gateway reports to ANSWERS_LISTEN: docs/operate/monitor.md#what-apis-answer.');
}

function judgeOutbox({ overdue: { count, oldestMs } }: DatabaseFacts): Finding {
  if (oldestMs <= MAX_OVERDUE_MS)
    return well('outbox', count === 0 ? 'nothing waits' : `${count} wait, the oldest for ${minutes(oldestMs)}`);
  return unwell(
    'outbox',
    `${count} wait, the oldest for ${minutes(oldestMs)}`,
    'Check that the dashboard runs, and read its log for webhooks and mail.',
  );
}

function judgeSocket({ socket }: SystemFacts): Finding {
  if (!socket) return unknown('socket', 'PLUGIN_SOCKET is not set here');
  if (socket.answers) return well('socket', `a process listens on ${socket.path}`);
  return unwell(
    'socket',
    `no process listens on ${socket.path}`,
    'Start the plugin server; check that its user and Kong’s share the group of the socket.',
  );
}

function judgeGateway({ gateway }: SystemFacts): Finding {
  if (!gateway) return unknown('gateway', 'GATEWAY_URL is not set');
  if (gateway.status === undefined)
    return unwell(
      'gateway',
      `${gateway.url} does not respond`,
      'Start the gateway and read the end of its log: docs/operate/monitor.md#first-look.',
    );
  if (gateway.status < 500) return well('gateway', `${gateway.url} responds with ${gateway.status}`);
  return unwell(
    'gateway',
    `${gateway.url} responds with ${gateway.status}`,
    'Look at the plugin server first: without it Kong responds with 500.',
  );
}

function judgeCertificates({ certificates, nowMs }: SystemFacts): Finding[] {
  if (certificates.length === 0) return [unknown('certificates', 'no https address or certificate is configured here')];
  return certificates.map(({ name, endsAtMs }) => {
    if (endsAtMs === undefined)
      return unwell(
        `certificate of ${name}`,
        'cannot be read',
        'Check that the address is served with TLS, and that the file is a certificate.',
      );
    const saw = `ends at ${new Date(endsAtMs).toISOString()}`;
    if (endsAtMs - nowMs > MIN_CERTIFICATE_MS) return well(`certificate of ${name}`, saw);
    return unwell(`certificate of ${name}`, saw, 'Renew it: docs/operate/secrets.md#certificates-between-services-and-workers.');
  });
}

function judgeDisk({ disk: { path, freeBytes, bytes } }: SystemFacts): Finding {
  const saw = `${gigabytes(freeBytes)} of ${gigabytes(bytes)} free at ${path}`;
  if (freeBytes > bytes * MIN_FREE_SHARE) return well('disk', saw);
  return unwell('disk', saw, 'Make room: npx tollgate sizes names the largest tables, docs/operate/backup.md how long each is kept.');
}

function judgeErrors({ errors, nowMs }: SystemFacts): Finding {
  if (!errors) return unknown('last errors', 'this machine has no instance’s logs: docs/operate/monitor.md#first-look');
  const [last] = errors;
  if (!last) return well('last errors', 'none in the last hour');
  const saw = `${errors.length} in the last hour; ${minutes(nowMs - last.atMs)} ago ${last.process}: ${last.text}`;
  return unwell('last errors', saw, `Read the end of the log of ${last.process}.`);
}

function judgeDatabase(facts: SystemFacts): Finding[] {
  const { database } = facts;
  if (typeof database === 'string') {
    const rest = ['sessions', 'migrations', 'clocks', 'redis', 'plugin server', 'change feed', 'responses', 'outbox'];
    const todo = 'Bring PostgreSQL back, or set DATABASE_URL. Do not restart plugin servers meanwhile: a new one knows no key.';
    return [unwell('database', database, todo), ...rest.map((name) => unknown(name, 'the database does not respond'))];
  }
  const live = database.nodes.filter(isRunning);
  return [
    judgeStore(database),
    judgeSessions(database),
    judgeMigrations(database),
    judgeClock(database),
    judgeRedis(facts, live),
    ...judgeNodes(database),
    judgeResponses(database),
    judgeOutbox(database),
  ];
}

/** Judges a running system: what is well, and what to do about everything else, in the order in which to look. */
export function judgeSystem(facts: SystemFacts): Finding[] {
  const files = facts.files.map((problem) => unwell('kong’s files', problem, 'npx tollgate check names every mistake with its line.'));
  return [
    judgeVersions(facts),
    ...judgeDatabase(facts),
    judgeSocket(facts),
    judgeGateway(facts),
    ...(files.length > 0 ? files : [well('kong’s files', 'as the catalogue requires')]),
    ...judgeCertificates(facts),
    judgeDisk(facts),
    judgeErrors(facts),
  ];
}
