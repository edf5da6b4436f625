import { type PoolClient } from 'pg';
import { createPool } from './pool';

/** Of other clients that take the session in between, one may hide what there is to see. */
const TRIES = 3;
/** A pooler with a single session lets the second client wait. */
const PATIENCE_MS = 2_000;

async function sessionOf(client: PoolClient): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}

/** Whether the second client, inside a transaction, has the session that the first has just used. */
async function isLentOut(one: PoolClient, other: PoolClient): Promise<boolean> {
  const own = await sessionOf(one);
  await other.query('BEGIN');
  try {
    return (await sessionOf(other)) === own;
  } finally {
    await other.query('ROLLBACK');
  }
}

/**
 * True when a pooler stands before PostgreSQL that gives each transaction another session, as PgBouncer does with `pool_mode =
 * transaction`. Then nobody hears of changes (LISTEN), and named statements are missing or another's.
 * @throws Error when the database does not answer
 */
export async function sharesSessions(url: string): Promise<boolean> {
  const pool = createPool(url, { max: 2, applicationName: 'tollgate session check' });
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), PATIENCE_MS).unref());
  const clients: PoolClient[] = [];
  const connect = async (): Promise<PoolClient> => {
    const client = await pool.connect();
    clients.push(client);
    return client;
  };
  const look = async (): Promise<boolean> => {
    const [one, other] = [await connect(), await connect()];
    for (let tries = 0; tries < TRIES; tries++) if (await isLentOut(one, other)) return true;
    return false;
  };
  try {
    return await Promise.race([look(), late]);
  } finally {
    for (const client of clients) client.release(true);
    await pool.end();
  }
}
