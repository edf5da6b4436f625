import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BalancedClient, type BalancedReply } from '../support/system/balanced-client';
import { eventually } from '../support/eventually';
import { type Unit } from '../support/system/fleet';
import { closeConnections, send } from '../support/http';
import { CHECK_SECONDS } from '../support/gateway/replicated-kong-yml';
import { successfulRequests } from '../support/gateway/sandbox-requests';
import { startSteadyLoad, type LoadReport, type SteadyLoad } from '../support/system/steady-load';
import { startTestFleet, type TestFleet } from '../support/system/test-fleet';

/** Every worker but that of `/image`, which is only slower; uploads and other requests that nobody can repeat are among them. */
const ROUTES = [
  '/vahaan',
  '/pincode',
  '/gst/start',
  '/grank/search',
  '/glead/search',
  '/seo/authority',
  '/app/analyze',
  '/gdplay/thumbnail',
  '/aadhaar/start',
];
/** Requests that have to be answered while a unit is away, and again after it is back. */
const ENOUGH = 24;
/** A roll restarts up to ten programs, and waits for many answers around each. */
const ROLL_LIMIT_MS = 900_000;

describe('a rolling restart under load', () => {
  let fleet: TestFleet;
  let client: BalancedClient;
  let key: string;
  let load: SteadyLoad | undefined;

  beforeAll(async () => {
    fleet = await startTestFleet();
    client = new BalancedClient(fleet.gateways.map(({ address }) => address));
    ({ key } = await fleet.newKey());
  });
  afterEach(async () => {
    await load?.stop();
    load = undefined;
  });
  afterAll(async () => {
    client.close();
    closeConnections();
    await fleet.close();
  });

  async function startLoad(): Promise<SteadyLoad> {
    load = startSteadyLoad(client, await successfulRequests(fleet.sandboxUrl, ROUTES), key);
    return load;
  }

  async function answered(under: SteadyLoad): Promise<void> {
    const before = under.report().sent;
    await eventually(() => under.report().sent >= before + ENOUGH, 180_000);
  }

  /** Stops and starts one unit after the other, with load before, while and after each is away. */
  async function roll(
    units: readonly Unit[],
    under: SteadyLoad,
    around: { before?: (unit: Unit) => Promise<void>; after?: (unit: Unit) => Promise<void> } = {},
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
    'of every gateway with its plugin server fails no request and admits none without a right to it',
    async () => {
      const under = await startLoad();
      await roll(fleet.gateways, under, {
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

  it(
    'of every service fails no request and admits none without a right to it',
    async () => {
      const under = await startLoad();
      // Until every gateway has noticed that it is back; only then may the other one go. Gateways that answer get turns for their checks too.
      const noticed = async (): Promise<void> => {
        await sleep(8 * CHECK_SECONDS * 1000);
        await answered(under);
      };
      await roll(fleet.services, under, { after: noticed });
      expectNoneLost('services', await under.stop());
    },
    ROLL_LIMIT_MS,
  );

  it(
    'of every worker fails no request, and sessions of the other worker go on',
    async () => {
      const sessions = await Promise.all(Array.from({ length: 8 }, () => startSession()));
      const under = await startLoad();
      const [first, ...others] = fleet.workers.filter(({ name }) => name.includes('identity'));
      const rest = fleet.workers.filter((unit) => unit !== first);
      await roll(first ? [first] : [], under);
      for (const { sessionId, owner } of sessions) {
        const { status, text } = await refreshed(sessionId);
        if (owner === first?.address)
          expect({ status, text }).toMatchObject({ status: 400, text: expect.stringContaining('session_expired') });
        else expect(status).toBe(200);
      }
      expect(new Set(sessions.map(({ owner }) => owner))).toEqual(new Set([first, ...others].map((unit) => unit?.address)));
      await roll(rest, under);
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
    const digest = createHash('sha256').update(sessionId).digest('base64url');
    return { sessionId, owner: await fleet.redis.command('GET', `tollgate:session:${digest}`) };
  }
});
