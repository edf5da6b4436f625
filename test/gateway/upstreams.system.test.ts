import { send, closeConnections } from '../support/http';
import { eventually } from '../support/eventually';
import { serve, type TestServer } from './support/echo-server';
import { oneService } from './support/stage';
import { startGateway, type RunningGateway } from './support/test-gateway';

interface Replica extends TestServer {
  readonly target: string;
  /** Paths of the requests it got. */
  readonly seen: string[];
  status: number;
}

async function startReplica(name: string): Promise<Replica> {
  const seen: string[] = [];
  const server = await serve((request, response) => {
    seen.push(request.url ?? '');
    response.writeHead(replica.status, { 'X-Replica': name, 'X-Host': request.headers.host ?? '' }).end();
  });
  const replica: Replica = { ...server, target: `127.0.0.1:${server.port}`, seen, status: 200 };
  return replica;
}

/** kong.yml with one unguarded service at `/x` behind the upstream `replicas`. */
function behindUpstream(replicas: readonly { target: string; weight?: number | undefined }[], more: object = {}): string {
  const targets = replicas.map(({ target, weight = 100 }) => ({ target, weight }));
  const { services } = JSON.parse(oneService({ host: 'replicas', retries: 1 })) as { services: object[] };
  return JSON.stringify({ _format_version: '3.0', upstreams: [{ name: 'replicas', targets, ...more }], services });
}

describe('a service whose host is an upstream', () => {
  let one: Replica;
  let two: Replica;
  let gateway: RunningGateway;
  const get = (method = 'GET') => send(`http://127.0.0.1:${gateway.port}/x`, { method, ...(method === 'POST' && { body: 'a' }) });
  const start = async (kongYml: string): Promise<void> => {
    gateway = await startGateway({ kongYml, pluginSocket: '/nowhere' });
  };

  beforeEach(async () => {
    [one, two] = await Promise.all([startReplica('one'), startReplica('two')]);
  });
  afterEach(async () => {
    closeConnections();
    await gateway.close({ graceMs: 50 });
    await Promise.all([one.close(), two.close()]);
  });

  it('is sent to at all its targets in turn, as often as their weights say', async () => {
    const weighed = [one, two].map(({ target }, at) => ({ target, weight: [30, 10][at] }));
    await start(behindUpstream(weighed));
    for (let i = 0; i < 40; i++) expect((await get()).status).toBe(200);
    expect([one.seen.length, two.seen.length]).toEqual([30, 10]);
  });

  it('hears the address of the chosen target as its host', async () => {
    await start(behindUpstream([one]));
    expect((await get()).headers['x-host']).toBe(one.target);
  });

  it('is reached at another target when one cannot be connected to, whatever the method', async () => {
    await start(behindUpstream([one, two]));
    await one.close();
    for (let i = 0; i < 6; i++) {
      expect((await get()).status).toBe(200);
      expect((await get('POST')).status).toBe(200);
    }
    expect(two.seen).toHaveLength(12);
  });

  it('leaves out a target that says it is going, and takes it back when it is well again', async () => {
    const active = {
      http_path: '/health',
      timeout: 60,
      healthy: { interval: 0.05, successes: 1, http_statuses: [200] },
      unhealthy: { interval: 0.05, http_failures: 1, tcp_failures: 1, http_statuses: [503] },
    };
    await start(behindUpstream([one, two], { healthchecks: { active } }));
    const requestsTo = ({ seen }: Replica): number => seen.filter((path) => path === '/x').length;
    one.status = 503;
    await eventually(async () => (await get()).headers['x-replica'] === 'two' && (await get()).headers['x-replica'] === 'two');
    const before = requestsTo(one);
    for (let i = 0; i < 10; i++) expect((await get()).headers['x-replica']).toBe('two');
    expect(requestsTo(one)).toBe(before);
    one.status = 200;
    await eventually(async () => (await get()).headers['x-replica'] === 'one');
  });

  it('answers 503 while every target is known to be away', async () => {
    const passive = { unhealthy: { tcp_failures: 1 } };
    await start(behindUpstream([one, two], { healthchecks: { passive } }));
    await Promise.all([one.close(), two.close()]);
    expect((await get()).status).toBe(502);
    expect((await get()).status).toBe(503);
  });
});

it('refuses an upstream with settings that this gateway does not implement', async () => {
  const start = startGateway({ kongYml: behindUpstream([{ target: 'h:1' }], { hash_on: 'ip' }), pluginSocket: '/nowhere' });
  await expect(start).rejects.toThrow('upstreams[0].hash_on: the local gateway does not implement this');
});
