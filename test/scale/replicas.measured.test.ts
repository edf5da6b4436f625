import { createHash } from 'node:crypto';
import { revokeKey } from '../../plugins/stores/postgres/keys/set-key-state';
import { burst } from '../support/system/exact-burst';
import { closeConnections, send, type Reply } from '../support/http';
import { expectMeasured } from '../support/measured';
import { lastAdmittedAfter } from '../support/system/revocation';
import { startTestFleet, type TestFleet } from '../support/system/test-fleet';

const json = { 'Content-Type': 'application/json' };

describe('three gateways and plugin servers, two replicas of each service and worker, one Postgres, one Redis', () => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startTestFleet();
  });
  afterAll(async () => {
    closeConnections();
    await fleet.close();
  });

  const vahaanUrls = (): string[] => fleet.gateways.map(({ address }) => `${address}/vahaan`);
  const gatewayAt = (index: number): string => fleet.gateways[index % fleet.gateways.length]?.address ?? '';

  function call(at: number, key: string, path: string, input?: object): Promise<Reply> {
    const headers = { 'X-API-Key': key, ...json };
    if (!input) return send(gatewayAt(at) + path, { headers: { 'X-API-Key': key } });
    return send(gatewayAt(at) + path, { method: 'POST', headers, body: JSON.stringify(input) });
  }

  /** The worker that owns a session, as all replicas find it. */
  const ownerOf = (sessionId: string): Promise<unknown> =>
    fleet.redis.command('GET', `tollgate:session:${createHash('sha256').update(sessionId).digest('base64url')}`);

  it('let exactly as many requests pass as are left, through all of them together', async () => {
    const counts = await burst({
      urls: vahaanUrls(),
      newKey: (daily) => fleet.newKey({ products: ['api-vahaan'], daily }),
      metrics: fleet.gateways.map((gateway) => (name) => gateway.metric(name)),
      left: 101,
      requests: 450,
    });
    expect(counts).toEqual({ 200: 101, 429: 349 });
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
