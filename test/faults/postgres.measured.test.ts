import { setTimeout as sleep } from 'node:timers/promises';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { startPostgresCopy } from '../support/faults/fault-postgres';
import { openFaultProxy, type FaultProxy } from '../support/faults/fault-proxy';
import { readUsed, type ProbeTarget } from '../support/faults/fault-probe';
import { recordObservation } from '../support/faults/fault-report';
import { openFaultStage, prepareDatabase, type FaultStage } from '../support/faults/fault-stage';
import { eventually } from '../support/eventually';
import { closeConnections, send } from '../support/http';
import { expectMeasured, isMeasured } from '../support/measured';
import { openedForTests } from '../support/opened';
import { inTestAll } from '../support/scenes';
import { type GatewayNode } from '../support/system/node';
import { expectDocumented, observeFault, UNDER_WAY } from '../support/faults/observe-fault';
import { lastAdmittedAfter } from '../support/system/revocation';

let stage: FaultStage;
let proxy: FaultProxy;
/** A node that reaches Postgres through the proxy. */
let proxied: { node: GatewayNode; target: ProbeTarget };

const opened = openedForTests();
beforeAll(async () => {
  stage = await opened.keep(openFaultStage(), async (each) => {
    each.postgres.thaw();
    await each.close();
  });
  proxy = await opened.keep(openFaultProxy(stage.postgres.url));
  proxied = await stage.addNode({ databaseUrl: proxy.url });
});
afterAll(closeConnections);

const hearsOfChanges = (node: GatewayNode) => async (): Promise<boolean> => (await node.metric('tollgate_change_feed_healthy')) === 1;

/** A crash takes the commits of three turns of the log writer along, 0.2 s each. */
const LOG_WRITER_MS = 600;

const statusOf = async (url: string, key: string): Promise<number> => (await send(url, { headers: { 'X-API-Key': key } })).status;

/** A key that was not seen before waits for the look-ups' circuit breaker, which asks four times a second. */
const untilServed = (url: string, key: string): Promise<void> => eventually(async () => (await statusOf(url, key)) === 200);

/** The answer to a key that the node has never seen, or must ask for: again after a 503, which a busy machine may give at first. */
async function decided(url: string, key: string): Promise<number> {
  let status = 503;
  await eventually(async () => (status = await statusOf(url, key)) !== 503);
  return status;
}

describe('nothing unauthorised gets through and every unit is counted while Postgres', () => {
  it('is killed: known keys are served, keys never seen get 503', async () => {
    const { postgres, node, target } = stage;
    const { key } = await stage.newKey();
    let unseen = 0;
    const seen = await observeFault(target, {
      inflict: postgres.kill,
      lastsMs: 1_500,
      lift: async () => {
        unseen = await statusOf(target.url, key);
        await postgres.start();
      },
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(node),
    });
    expect(unseen).toBe(503);
    await untilServed(target.url, key);
    expectDocumented(seen, { statuses: [503] });
    await recordObservation('Postgres killed', seen, { note: 'keys not seen before: 503' });
  });

  it('is killed where it counts, without a Redis: 503 until it is back, and at most its last 0.6 s are not counted', async () => {
    const { postgres } = stage;
    const { node, target } = await stage.addNode({ redisUrl: '' });
    const seen = await observeFault(target, {
      inflict: postgres.kill,
      lastsMs: 1_000,
      lastsFor: { status: 503, answers: 21 },
      lift: postgres.start,
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(node),
    });
    await node.stop();
    expect(seen.answers.statuses('valid').get(503)).toBeGreaterThan(20);
    expectDocumented(seen, { statuses: [503], mostLost: seen.givenBefore(LOG_WRITER_MS) });
    await recordObservation('Postgres killed, without Redis', seen);
  });

  it('hangs', async () => {
    const { postgres, node, target } = stage;
    const seen = await observeFault(target, {
      inflict: postgres.freeze,
      lastsMs: 3_000,
      lift: postgres.thaw,
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(node),
    });
    expectDocumented(seen, { statuses: [503] });
    await recordObservation('Postgres hung (SIGSTOP)', seen);
  });

  it('is read-only', async () => {
    const { postgres, node, target } = stage;
    const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
      await postgres.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await postgres.query('SELECT pg_reload_conf()');
    };
    const seen = await observeFault(target, {
      inflict: () => setReadOnly('on'),
      lastsMs: 1_500,
      lift: () => setReadOnly('off'),
      recoversWithinMs: 5_000,
      isWhole: hearsOfChanges(node),
    });
    // 503 only where a machine short of turns takes Redis for silent: nothing can count then.
    expectDocumented(seen, { statuses: [503] });
    await recordObservation('Postgres read-only', seen);
  });

  inTestAll('is slow', async () => {
    const seen = await observeFault(proxied.target, {
      inflict: () => proxy.setMode({ delayMs: 300 }),
      lastsMs: 3_000,
      lift: () => proxy.setMode('pass'),
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(proxied.node),
    });
    expectDocumented(seen, { statuses: [503] });
    await recordObservation('Postgres slow (300 ms each way)', seen);
  });

  inTestAll('takes no new connections', async () => {
    const { key } = await stage.newKey();
    const seen = await observeFault(proxied.target, {
      // Connections that stand go on, and show nothing: the feed's ends, as by a restart of the network, and cannot be made again.
      inflict: async () => {
        proxy.setMode('drop');
        await stage.postgres.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tollgate change feed'",
        );
      },
      lastsMs: 1_000,
      lift: async () => {
        expect(await decided(proxied.target.url, key)).toBe(200);
        proxy.setMode('pass');
      },
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(proxied.node),
    });
    // 503 only where a machine short of turns takes Redis for silent: without a connection for it, Postgres cannot count instead.
    expectDocumented(seen, { statuses: isMeasured ? [] : [503] });
    await recordObservation('Postgres takes no new connections', seen, { note: 'keys not seen before too' });
  });

  it('cannot be reached by one node: what is revoked meanwhile is dead there a second after the way is back', async () => {
    const { key, id } = await stage.newKey();
    expect(await decided(proxied.target.url, key)).toBe(200);
    const plan = {
      inflict: () => proxy.setMode('hang'),
      lastsMs: 1_500,
      lift: async () => {
        await revokeKey(stage.db, { id, actor: 'test' });
        expect(await decided(stage.target.url, key)).toBe(401);
        proxy.setMode('pass');
        await sleep(1_000);
        expect(await statusOf(proxied.target.url, key)).toBe(401);
      },
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(proxied.node),
    };
    const seen = await observeFault(proxied.target, plan);
    expectDocumented(seen, { statuses: [503] });
    await recordObservation('a node cut off from Postgres', seen, { note: 'keys revoked meanwhile: honoured for 60 s at most' });
  });

  it('has lost every key, until they are restored: nobody is let in', async () => {
    const { postgres, node, target } = stage;
    /** Puts an empty database in Tollgate's place, or the old one back. */
    const swap = async (away: string, back: string | undefined): Promise<void> => {
      await postgres.query(`ALTER DATABASE tollgate WITH ALLOW_CONNECTIONS false`, 'postgres');
      await postgres.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'tollgate'", 'postgres');
      await postgres.query(`ALTER DATABASE tollgate RENAME TO ${away}`, 'postgres');
      if (back === undefined) {
        await postgres.query('CREATE DATABASE tollgate', 'postgres');
        await prepareDatabase(postgres.url);
      } else {
        await postgres.query(`ALTER DATABASE ${back} RENAME TO tollgate`, 'postgres');
        await postgres.query('ALTER DATABASE tollgate WITH ALLOW_CONNECTIONS true', 'postgres');
      }
    };
    const seen = await observeFault(target, {
      inflict: () => swap('kept', undefined),
      lastsMs: 1_000,
      lastsFor: { status: 401, answers: 21 },
      lift: () => swap('emptied', 'kept'),
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(node),
    });
    expect(seen.answers.statuses('valid').get(401)).toBeGreaterThan(20);
    expectDocumented(seen, { statuses: [401, 503] });
    await recordObservation('Postgres emptied', seen, { note: 'no key exists: 401' });
  });

  it('and Redis are both killed', async () => {
    const { postgres, redis, node, target } = stage;
    const failovers = (): Promise<number> => node.metric('tollgate_quota_failovers_total');
    const atFirst = await failovers();
    let hasLeftRedis = false;
    const seen = await observeFault(target, {
      inflict: async () => {
        // A busy machine makes a node count in Postgres for a moment, whose last moments are lost with it.
        hasLeftRedis = (await failovers()) !== atFirst || (await node.metric('tollgate_quota_store_in_use{store="redis"}')) !== 1;
        await Promise.all([postgres.kill(), redis.kill()]);
      },
      lastsMs: 1_000,
      lastsFor: { status: 503, answers: 21 },
      lift: () => Promise.all([postgres.start(), redis.start()]),
      recoversWithinMs: 10_000,
      isWhole: hearsOfChanges(node),
    });
    expect(seen.answers.statuses('valid').get(503)).toBeGreaterThan(20);
    expectDocumented(seen, { statuses: [503], mostTwice: UNDER_WAY, mostLost: hasLeftRedis ? seen.givenBefore(LOG_WRITER_MS) : 0 });
    await recordObservation('Postgres and Redis killed', seen);
  });

  it('fails over to a streaming replica, which knows every key and every count', async () => {
    const { postgres } = stage;
    const replica = await startPostgresCopy(postgres);
    try {
      const { key, id } = await stage.newKey();
      const before = await readUsed(proxied.target);
      await replica.caughtUp();
      const seen = await observeFault(proxied.target, {
        inflict: postgres.kill,
        lastsMs: 1_000,
        lift: async () => {
          await replica.promote();
          proxy.switchTo(replica.url);
        },
        recoversWithinMs: 10_000,
        isWhole: hearsOfChanges(proxied.node),
      });
      await untilServed(proxied.target.url, key);
      expect(await readUsed(proxied.target)).toBeGreaterThan(before + seen.given);
      const revoke = async (): Promise<void> => {
        expect((await replica.query(`UPDATE credential SET state = 'revoked' WHERE id = '${id}'`)).rowCount).toBe(1);
      };
      const [lastAdmitted] = await lastAdmittedAfter({ urls: [proxied.target.url], key, revoke });
      expectMeasured(lastAdmitted ?? Infinity, 1_000);
      expectDocumented(seen, { statuses: [503] });
      await recordObservation('Postgres fails over to a replica', seen);
    } finally {
      await postgres.start();
      proxy.switchTo(postgres.url);
      await replica.close();
    }
  });
});
