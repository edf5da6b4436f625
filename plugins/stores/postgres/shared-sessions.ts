import { Client } from 'pg';

/** Tries, because another client may take the session in between and hide what there is to see. */
const TRIES = 3;
/** For the connection, and for each query: a pooler with a single session lets the second client wait. */
const PATIENCE_MS = 2_000;

/** Times are kept here and not by the server: a pooler refuses settings that come with a connection. */
function clientOf(url: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    application_name: 'tollgate session check',
  });
  // A connection that breaks is reported by the query on it; without a listener it would end the process.
  return client.on('error', () => undefined);
}

async function sessionOf(client: Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}

/** Whether the second client, inside a transaction, has the session that the first has just used. */
async function isLentOut(one: Client, other: Client): Promise<boolean> {
  const own = await sessionOf(one);
  await other.query('BEGIN');
  const its = await sessionOf(other);
  await other.query('ROLLBACK');
  return its === own;
}

/**
 * True when a pooler stands before PostgreSQL that gives each transaction another session, as PgBouncer does with `pool_mode =
 * transaction`. Then nobody hears of changes (LISTEN), and named statements are missing or another's.
 * @returns undefined when it cannot be seen: the database does not answer within seconds, or has no two connections left. Never throws.
 */
export async function sharesSessions(url: string): Promise<boolean | undefined> {
  const one = clientOf(url);
  const other = clientOf(url);
  try {
    await one.connect();
    await other.connect();
    for (let tries = 0; tries < TRIES; tries++) if (await isLentOut(one, other)) return true;
    return false;
  } catch {
    return undefined;
  } finally {
    await Promise.all([one.end(), other.end()]);
  }
}
