import { openOwnInstallation, type OwnInstallation, type IssuedKey } from '../acceptance/installation';
import { type ProbeTarget, readUsed } from '../support/faults/fault-probe';
import { recordObservation } from '../support/faults/fault-report';
import { eventually } from '../support/eventually';
import { send, type Reply } from '../support/http';
import { type RunningInstance } from '../support/system/instance';
import { expectDocumented, observeFault } from '../support/faults/observe-fault';
import { readMetric } from '../support/system/read-metric';

let tollgate: OwnInstallation;
let instance: RunningInstance;
let target: ProbeTarget;
/** Its counts are those of the requests under test alone. */
let caller: IssuedKey;
/** Asks whether something is back. */
let watcher: IssuedKey;

const SEARCH = { latitude: 12.9716, longitude: 77.5946 };
const AADHAAR = { aadhaar: '999999990019' };

beforeAll(async () => {
  tollgate = await openOwnInstallation();
  instance = tollgate.instance;
  const options = { mode: 'test' as const, daily: 100_000, monthly: 1_000_000 };
  const valid = await tollgate.createKey({ products: ['api-vahaan'], ...options });
  const revoked = await tollgate.createKey({ products: ['api-vahaan'], ...options });
  watcher = await tollgate.createKey({ products: ['api-grank', 'api-aadhaar'], ...options });
  caller = await tollgate.createKey({ products: ['api-grank', 'api-aadhaar'], ...options });
  await tollgate.keys.revoke(revoked.id);
  target = { url: `${tollgate.gatewayUrl}/vahaan`, key: valid.key, revokedKey: revoked.key };
});

afterAll(() => tollgate.close());

function post(path: string, body: Record<string, unknown>, { key } = caller): Promise<Reply> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  return send(`${tollgate.gatewayUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A search that the upstream leaves unanswered: under way, from gateway to worker, until something ends it. */
async function startUnanswered(): Promise<{ reply: Promise<Reply> }> {
  const reply = post('/grank/search', { ...SEARCH, keyword: 'sandbox-timeout' });
  const metrics = instance.metrics['worker-ranking'] ?? '';
  const running = (): Promise<number> => readMetric(metrics, 'tollgate_worker_calls_running{worker="ranking"}').catch(() => 0);
  await eventually(async () => (await running()) > 0);
  return { reply };
}

/** Units of the ranking product that are counted, this question's included. */
async function usedOfRanking(): Promise<number> {
  return readUsed({ ...target, url: `${tollgate.gatewayUrl}/grank`, key: caller.key });
}

async function searchWorks(): Promise<boolean> {
  return (await post('/grank/search', { ...SEARCH, keyword: 'dentist' }, watcher)).status === 200;
}

async function startSession(): Promise<string> {
  const started = await post('/aadhaar/start', AADHAAR);
  expect(started.status).toBe(200);
  return String(started.json().sessionId);
}

const answerCaptcha = (sessionId: string): Promise<Reply> => post('/aadhaar/captcha', { sessionId, captcha: 'KX47M' });

function kill(name: string): number {
  const pid = instance.pidOf(name);
  process.kill(pid, 'SIGKILL');
  return pid;
}

const isReplaced = (name: string, pid: number): boolean => {
  try {
    return instance.pidOf(name) !== pid;
  } catch {
    return false;
  }
};

const STARTS = { lastsMs: 0, lift: () => undefined, recoversWithinMs: 15_000 };

describe('a worker that is killed', () => {
  it('fails the request under way with 502, whose unit is given back once, and serves again by itself', async () => {
    expect(await searchWorks()).toBe(true);
    const before = await usedOfRanking();
    let reply: Reply | undefined;
    const seen = await observeFault(target, {
      ...STARTS,
      async inflict() {
        const pending = await startUnanswered();
        kill('worker-ranking');
        reply = await pending.reply;
      },
      isWhole: searchWorks,
    });
    expect([reply?.status, reply?.headers['x-tollgate-charged']]).toEqual([502, '0']);
    expect((await usedOfRanking()) - before).toBe(1);
    expectDocumented(seen, { statuses: [] });
    recordObservation('worker killed mid-request', seen, {
      note: 'the request under way: 502, given back once; other products do not notice',
    });
  });

  it('loses its sessions, whose callers are told to start again with 400 session_expired', async () => {
    const sessionId = await startSession();
    let replies: Reply[] = [];
    const seen = await observeFault(target, {
      ...STARTS,
      async inflict() {
        const pid = kill('worker-identity');
        const whileAway = await answerCaptcha(sessionId);
        await eventually(() => isReplaced('worker-identity', pid));
        replies = [whileAway];
      },
      isWhole: async () => (await post('/aadhaar/start', AADHAAR, watcher)).status === 200,
    });
    replies.push(await answerCaptcha(sessionId));
    expect(replies.map((reply) => [reply.status, reply.json().code])).toEqual(Array(2).fill([400, 'session_expired']));
    expect((await answerCaptcha(await startSession())).status).toBe(200);
    expectDocumented(seen, { statuses: [] });
    recordObservation('worker killed mid-session', seen, { note: 'the session: 400 session_expired; a new one works' });
  });
});

describe('a service', () => {
  it('refuses whoever goes around the gateway, with 401 gateway_proof_missing', async () => {
    const url = instance.services['vahaan'] ?? '';
    for (const headers of [{}, { 'X-API-Key': target.key }, { 'X-Tollgate-Context': 'v1.e30.AAAA' }]) {
      const reply = await send(`${url.replace(/\/$/, '')}/vahaan`, { headers });
      expect([reply.status, reply.json().code]).toEqual([401, 'gateway_proof_missing']);
    }
  });

  it('that is killed fails the request under way with 502, which stays charged, and is back within 15 s', async () => {
    const before = await usedOfRanking();
    let reply: Reply | undefined;
    const seen = await observeFault(target, {
      ...STARTS,
      async inflict() {
        const pending = await startUnanswered();
        kill('services');
        reply = await pending.reply;
      },
    });
    expect(reply?.status).toBe(502);
    expect((await usedOfRanking()) - before).toBe(2);
    expectDocumented(seen, { statuses: [502] });
    recordObservation('service killed mid-request', seen, { note: 'the request under way: 502, stays charged' });
  });

  it('that is killed between two steps of a session leaves the session alive', async () => {
    const sessionId = await startSession();
    const seen = await observeFault(target, { ...STARTS, inflict: () => void kill('services') });
    const reply = await answerCaptcha(sessionId);
    expect([reply.status, reply.json().status]).toEqual([200, 'otp']);
    expectDocumented(seen, { statuses: [502] });
    recordObservation('service killed mid-session', seen, { note: 'the session goes on afterwards' });
  });
});
