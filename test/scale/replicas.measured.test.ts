import { useOpened } from '../support/opened';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { BalancedClient, type BalancedReply, type BalancedRequest } from '../support/system/balanced-client';
import { eventually } from '../support/eventually';
import { CHECK_SECONDS, startTestFleet, type Unit } from '../support/system/fleet';
import { burst } from '../support/system/exact-burst';
import { closeConnections, type Reply, send } from '../support/http';
import { expectMeasured } from '../support/measured';
import { firstOf, inTestAll } from '../support/scenes';
import { lastAdmittedAfter } from '../support/system/revocation';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { isUndecided, sayExcused, startTurnMeter } from '../support/system/turn-meter';
import { requestOf, type SandboxExample } from '../support/follow-example';

interface LoadReport {
  /** With a valid key. */
  sent: number;
  /** Answers other than 200 to those, and requests without an answer: `POST /app/analyze 502`. */
  failed: string[];
  /** Without a key, or with one that was never issued. */
  probes: number;
  /** Answers other than 401 to those. */
  admitted: string[];
}

interface SteadyLoad {
  report(): Readonly<LoadReport>;
  stop(): Promise<Readonly<LoadReport>>;
}

/** An answer that should have been another, unless the access layer had no turns to decide in. */
interface Suspect {
  readonly list: string[];
  readonly what: string;
  readonly isExcused: () => boolean;
}

/** Loops of each kind. */
const LOOPS = 2;
/** Between two requests of a loop: the load is there all the time, and leaves the machine room to restart things. */
const PAUSE_MS = 80;
/** Refusals show what they have to show more rarely. */
const PROBE_PAUSE_MS = 200;

/** Sends these requests in turn, and the same without a right to them, until told to stop. */
function startSteadyLoad(client: BalancedClient, requests: readonly BalancedRequest[], apiKey: string): SteadyLoad {
  const report: LoadReport = { sent: 0, failed: [], probes: 0, admitted: [] };
  let running = true;
  let turn = 0;

  const meter = startTurnMeter();
  const suspects: Suspect[] = [];

  /** Sends it once, and keeps any other answer than the wanted one to be judged at the end. */
  async function expectStatus(wanted: number, request: BalancedRequest, { key, list }: { key?: string; list: string[] }): Promise<void> {
    const headers = { ...request.headers, ...(key === undefined ? {} : { 'X-API-Key': key }) };
    const sentAt = performance.now();
    const reply = await client
      .send({ ...request, headers })
      .catch((error: unknown) => ({ status: error instanceof Error ? error.message : String(error), text: '' }));
    if (reply.status === wanted) return;
    const answer = { sentAt, tookMs: performance.now() - sentAt };
    const status = typeof reply.status === 'number' ? reply.status : 0;
    const isExcused = (): boolean => isUndecided({ status, text: reply.text }) && meter.wasShortOfTurns(answer);
    suspects.push({ list, what: `${nameOf(request)} ${reply.status}`, isExcused });
  }
  const nameOf = ({ method = 'GET', path }: BalancedRequest): string => `${method} ${path}`;
  const next = (): BalancedRequest => requests[turn++ % requests.length] ?? { path: '/' };

  async function use(): Promise<void> {
    while (running) {
      const request = next();
      await expectStatus(200, request, { key: apiKey, list: report.failed });
      report.sent++;
      await sleep(PAUSE_MS);
    }
  }
  async function probe(): Promise<void> {
    for (let round = 0; running; round++) {
      const request = next();
      await expectStatus(401, request, { list: report.admitted, ...(round % 2 === 1 && { key: generateApiKey('test') }) });
      report.probes++;
      await sleep(PROBE_PAUSE_MS);
    }
  }
  const loops = Promise.all(Array.from({ length: LOOPS }, () => [use(), probe()]).flat());
  return {
    report: () => report,
    async stop() {
      running = false;
      await loops;
      meter.stop();
      const unexcused = suspects.filter(({ isExcused }) => !isExcused());
      for (const { list, what } of unexcused) list.push(what);
      sayExcused(suspects.length - unexcused.length);
      suspects.length = 0;
      return report;
    },
  };
}

/** The requests that the sandbox documents as answered with 200, one a route. @throws Error for a route that it does not document */
async function successfulRequests(sandboxUrl: string, routes: readonly string[]): Promise<BalancedRequest[]> {
  const entries = (await send(`${sandboxUrl}/`)).json() as SandboxExample[];
  return routes.map((route) => {
    const entry = entries.find((each) => each.route === route && each.outcome === 'success');
    if (!entry) throw new Error(`the sandbox documents no success of ${route}`);
    return requestOf(entry);
  });
}

/** What workers answer; that of `/image` is only slower. Uploads and other requests that nobody can repeat are among them. */
const WORKER_ROUTES = ['/app/analyze', '/gst/start', '/aadhaar/start', '/grank/search', '/glead/search', '/seo/authority'];
const ROUTES = ['/vahaan', '/pincode', '/gdplay/thumbnail', ...WORKER_ROUTES];
/** Requests that have to be answered while a unit is away, and again after it is back: every route at least once. */
const ENOUGH = 10;
type Stoppable = Pick<Unit, 'start' | 'stop'>;
const JSON_BODY = { 'Content-Type': 'application/json' };
/** A roll restarts up to ten programs, and waits for many answers in between. */
const ROLL_LIMIT_MS = 900_000;

const fleet = useOpened(startTestFleet);
afterAll(closeConnections);

/** The worker that owns a session, as all replicas find it. */
const ownerOf = (sessionId: string): Promise<unknown> =>
  fleet.redis.command('GET', `tollgate:session:${createHash('sha256').update(sessionId).digest('base64url')}`);

describe('three gateways and plugin servers, two replicas of each service and worker, one Postgres, one Redis', () => {
  const vahaanUrls = (): string[] => fleet.gateways.map(({ address }) => `${address}/vahaan`);
  const gatewayAt = (index: number): string => fleet.gateways[index % fleet.gateways.length]?.address ?? '';

  function call(at: number, key: string, path: string, input?: object): Promise<Reply> {
    const headers = { 'X-API-Key': key, ...JSON_BODY };
    if (!input) return send(gatewayAt(at) + path, { headers: { 'X-API-Key': key } });
    return send(gatewayAt(at) + path, { method: 'POST', headers, body: JSON.stringify(input) });
  }

  it('let exactly as many requests pass as are left, through all of them together', async () => {
    const counts = await burst({
      urls: vahaanUrls(),
      newKey: (daily) => fleet.newKey({ products: ['api-vahaan'], daily }),
      metrics: fleet.gateways.map((gateway) => (name) => gateway.metric(name)),
      left: 61,
      requests: 200,
    });
    expect(counts).toEqual({ 200: 61, 429: 139 });
  });

  it('honour a revoked key for less than a second after the commit, on every node', async () => {
    const { key, id } = await fleet.newKey({ products: ['api-vahaan'] });
    const revoke = (): Promise<unknown> => revokeKey(fleet.database.pool, { id, actor: 'test' });
    const lastAdmitted = await lastAdmittedAfter({ urls: vahaanUrls(), key, revoke });
    for (const ms of lastAdmitted) expectMeasured(ms, 1_000);
    process.stderr.write(`last request admitted, ms after the commit: ${lastAdmitted.map((ms) => ms.toFixed(1)).join(', ')}\n`);
  });

  it('lead every step of a session to the worker that owns it, whichever gateway and replica it comes through', async () => {
    const { key } = await fleet.newKey();
    const owners = new Set<unknown>();
    for (let session = 0; session < 6; session++) {
      const { sessionId } = (await call(session, key, '/gst/start')).json() as { sessionId: string };
      owners.add(await ownerOf(sessionId));
      for (let step = 1; step < 4; step++) {
        expect((await call(session + step, key, `/gst/refresh_captcha?sessionId=${sessionId}`)).status).toBe(200);
      }
    }
    const aadhaar = '999999990019';
    for (let session = 0; session < 4; session++) {
      const { sessionId } = (await call(session, key, '/aadhaar/start', { aadhaar })).json() as { sessionId: string };
      owners.add(await ownerOf(sessionId));
      expect((await call(session + 1, key, '/aadhaar/captcha', { sessionId, captcha: 'KX47M' })).json()).toMatchObject({ status: 'otp' });
      expect((await call(session + 2, key, '/aadhaar/otp', { sessionId, otp: '123456' })).json()).toMatchObject({ status: 'success' });
    }
    expect([...owners].sort()).toEqual(fleet.workers.filter(({ name }) => name.includes('identity')).map(({ address }) => address));
  });
});

describe('a rolling restart under load', () => {
  const client = useOpened(() => new BalancedClient(fleet.gateways.map(({ address }) => address)));
  let key: string;
  let load: SteadyLoad | undefined;

  beforeAll(async () => void ({ key } = await fleet.newKey()));
  afterEach(async () => {
    await load?.stop();
    load = undefined;
  });

  async function startLoad(routes: readonly string[]): Promise<SteadyLoad> {
    load = startSteadyLoad(client, await successfulRequests(fleet.sandboxUrl, routes), key);
    return load;
  }

  async function answered(under: SteadyLoad): Promise<void> {
    const before = under.report().sent;
    await eventually(() => under.report().sent >= before + ENOUGH, 180_000);
  }

  /** Units of different kinds as one. */
  function together(units: readonly Unit[]): Stoppable {
    const all = async (act: 'stop' | 'start'): Promise<void> => void (await Promise.all(units.map((unit) => unit[act]())));
    return { stop: () => all('stop'), start: () => all('start') };
  }

  /** Stops and starts one unit after the other, with load before, while and after each is away. */
  async function roll<U extends Stoppable>(
    units: readonly U[],
    under: SteadyLoad,
    around: { before?: (unit: U) => Promise<void>; after?: (unit: U) => Promise<void> } = {},
  ): Promise<void> {
    for (const unit of units) {
      await answered(under);
      await around.before?.(unit);
      await unit.stop();
      await answered(under);
      await unit.start();
      await around.after?.(unit);
    }
    await answered(under);
  }

  function expectNoneLost(what: string, { sent, failed, probes, admitted }: Readonly<LoadReport>): void {
    process.stderr.write(`${what}: ${sent} requests, ${failed.length} failed; ${probes} probes, ${admitted.length} not refused\n`);
    expect({ failed, admitted }).toEqual({ failed: [], admitted: [] });
    expect(sent).toBeGreaterThan(2 * ENOUGH);
    expect(probes).toBeGreaterThan(ENOUGH);
  }

  it(
    'of a gateway with its plugin server, in test:all of every one, fails no request and admits none without a right to it',
    async () => {
      const under = await startLoad(ROUTES);
      await roll(firstOf(fleet.gateways), under, {
        before: ({ address }) => client.takeOut(address),
        after: async ({ address }) => {
          await eventually(async () => (await send(`${address}/vahaan`)).status === 401);
          client.putBack(address);
        },
      });
      expectNoneLost('gateways and plugin servers', await under.stop());
    },
    ROLL_LIMIT_MS,
  );

  inTestAll(
    'of every service fails no request and admits none without a right to it',
    async () => {
      const under = await startLoad(ROUTES);
      // Until the balancer has noticed that it is back; only then may the other one go.
      const noticed = async (): Promise<void> => {
        await sleep(5 * CHECK_SECONDS * 1000);
        await answered(under);
      };
      await roll(fleet.services, under, { after: noticed });
      expectNoneLost('services', await under.stop());
    },
    ROLL_LIMIT_MS,
  );

  inTestAll(
    'of every worker fails no request, and sessions of the other worker go on',
    async () => {
      const sessions = await Promise.all(Array.from({ length: 8 }, () => startSession()));
      const replicas = (index: number): Unit[] => fleet.workers.filter(({ name }) => name.endsWith(` ${index}`));
      const [first, second] = fleet.workers.filter(({ name }) => name.includes('identity'));
      if (!first || !second) throw new Error('there are not two workers of sessions');
      const under = await startLoad(WORKER_ROUTES);
      // The first of each kind at the same time, which leaves one of each: kinds know nothing of each other.
      await roll([together(replicas(0))], under);
      for (const { sessionId, owner } of sessions) {
        const { status, text } = await refreshed(sessionId);
        if (owner === first.address)
          expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('session_expired') });
        else expect(status).toBe(200);
      }
      expect(new Set(sessions.map(({ owner }) => owner))).toEqual(new Set([first.address, second.address]));
      await roll([together(replicas(1))], under);
      expectNoneLost('workers', await under.stop());
    },
    ROLL_LIMIT_MS,
  );

  /** Asked again while a service on a busy machine could not look the session up in time. */
  async function refreshed(sessionId: string): Promise<BalancedReply> {
    let reply: BalancedReply = { status: 503, text: '' };
    const request = { path: `/gst/refresh_captcha?sessionId=${sessionId}`, headers: { 'X-API-Key': key } };
    await eventually(async () => (reply = await client.send(request)).status !== 503);
    return reply;
  }

  async function startSession(): Promise<{ sessionId: string; owner: unknown }> {
    const { text } = await client.send({ path: '/gst/start', headers: { 'X-API-Key': key } });
    const { sessionId } = JSON.parse(text) as { sessionId: string };
    return { sessionId, owner: await ownerOf(sessionId) };
  }
});
