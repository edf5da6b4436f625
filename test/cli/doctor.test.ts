import { type DatabaseFacts, type Finding, judgeSystem, type SystemFacts } from '../../cli/commands/judge-system';
import { type NodeHealth } from '../../services/selling/operators/read-nodes';

const NOW_MS = Date.parse('2026-11-20T03:00:00Z');
const DAY_MS = 86_400_000;

const node = (extra: Partial<NodeHealth> = {}): NodeHealth => ({
  ...{ id: 'n1', name: 'kong-1', startedAt: new Date(NOW_MS), seenAt: new Date(NOW_MS), state: 'live', stateSince: null, version: '0.1.0' },
  ...{ redisAnswers: true, redisSince: null, confirmations: 1, medianLagMs: 5, longestLagMs: 20 },
  ...extra,
});

const database = (extra: Partial<DatabaseFacts> = {}): DatabaseFacts => ({
  ...{ clockMs: NOW_MS, ownClockMs: NOW_MS, answeredInMs: 1, sharesSessions: false },
  health: { version: '18.1', bytes: 1e9, connections: 12, mostConnections: 100, startedAt: new Date(NOW_MS) },
  migrations: { pending: [], unknown: [] },
  nodes: [node()],
  responses: { admitted: 10, reported: 9 },
  overdue: { count: 0, oldestMs: 0 },
  ...extra,
});

const facts = (extra: Partial<SystemFacts> = {}): SystemFacts => ({
  ...{ nowMs: NOW_MS, version: '0.1.0', node: '20.19.0', database: database(), usesRedis: true, files: [], errors: [] },
  socket: { path: '/run/plugin.sock', answers: true },
  gateway: { url: 'http://127.0.0.1:8000', status: 200 },
  certificates: [{ name: 'DASHBOARD_URL', endsAtMs: NOW_MS + 60 * DAY_MS }],
  disk: { path: '/data', freeBytes: 5e10, bytes: 1e11 },
  ...extra,
});

const find = (extra: Partial<SystemFacts>, name: string): Finding | undefined =>
  judgeSystem(facts(extra)).find((each) => each.name === name);

it('a system in which all is well has nothing to do', () => {
  expect(judgeSystem(facts()).filter(({ state }) => state !== 'well')).toEqual([]);
});

it.each<[string, string, Partial<SystemFacts>, RegExp]>([
  ['a database that is away', 'database', { database: 'PostgreSQL at db does not respond' }, /Do not restart plugin servers/],
  ['a missing migration', 'migrations', { database: database({ migrations: { pending: ['0009_x'], unknown: [] } }) }, /upgrade\.md/],
  ['a pooler that shares sessions', 'sessions', { database: database({ sharesSessions: true }) }, /pool_mode = session/],
  ['a clock that is wrong', 'clocks', { database: database({ clockMs: NOW_MS - 3_000 }) }, /time synchronisation/],
  ['a node of another version', 'versions', { database: database({ nodes: [node(), node({ name: 'kong-2', version: '0.0.9' })] }) }, /upgrade/],
  ['Redis that is away', 'redis', { database: database({ nodes: [node({ redisAnswers: false })] }) }, /Bring Redis back/],
  ['a lost change feed', 'change feed', { database: database({ nodes: [node({ state: 'reading' })] }) }, /LISTEN/],
  ['responses that nobody reports', 'responses', { database: database({ responses: { admitted: 9, reported: 0 } }) }, /ANSWERS_LISTEN/],
  ['messages that wait', 'outbox', { database: database({ overdue: { count: 3, oldestMs: 1_200_000 } }) }, /dashboard runs/],
  ['a socket without a server', 'socket', { socket: { path: '/run/plugin.sock', answers: false } }, /plugin server/],
  ['a gateway without its plugin server', 'gateway', { gateway: { url: 'http://gw', status: 500 } }, /plugin server first/],
  ['a mistake in a file', 'kong’s files', { files: ['kong: a way around'] }, /tollgate check/],
  ['a certificate that ends soon', 'certificate of DASHBOARD_URL', { certificates: [{ name: 'DASHBOARD_URL', endsAtMs: NOW_MS + DAY_MS }] }, /Renew/],
  ['an error in a log', 'last errors', { errors: [{ process: 'dashboard', atMs: NOW_MS - 60_000, text: 'it broke' }] }, /log of dashboard/],
])('%s is unwell, with what to do', (_what, name, extra, todo) => {
  expect(find(extra, name)).toMatchObject({ state: 'unwell', todo: expect.stringMatching(todo) });
}); // prettier-ignore

it('what cannot be seen from here is neither well nor unwell', () => {
  const unseen = { database: 'away', socket: undefined, gateway: undefined, certificates: [], errors: undefined };
  for (const name of [
    'migrations',
    'clocks',
    'redis',
    'plugin server',
    'change feed',
    'responses',
    'outbox',
    'socket',
    'gateway',
    'certificates',
    'last errors',
  ]) {
    expect(find(unseen, name)).toMatchObject({ state: 'unknown' });
    expect(find(unseen, name)).not.toHaveProperty('todo');
  }
});
