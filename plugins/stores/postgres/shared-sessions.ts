import { Client } from 'pg';

/** Maximum attempts: another client may take the session in between and hide the result. */
const TRIES = 3;
/** For the connection and for each query: a pooler with a single session makes the second client wait. */
const PATIENCE_MS = 2_000;

/** Time-outs are kept here and not by the server, because a pooler refuses settings that come with a connection. */
function clientOf(url: string): Client {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
    application_name: 'tollgate session check',
  });
  // A broken connection is reported by the query on it; without a listener it would end the process.
  return client.on('error', () => undefined);
}

async function sessionOf(client: Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}

/** True if the second client, inside a transaction, has the session that the first client has just used. */
async function isLentOut(one: Client, other: Client): Promise<boolean> {
  const own = await sessionOf(one);
  await other.query('BEGIN');
  const its = await sessionOf(other);
  await other.query('ROLLBACK');
  return its === own;
}

/**
 * True when a pooler in front of PostgreSQL gives each transaction another session, as PgBouncer does with `pool_mode = transaction`. Then
 * nobody hears of changes (LISTEN), and named statements are missing or belong to another client.
 * @returns undefined when it cannot be determined: the database does not respond within seconds, or does not have two free connections.
 * Never throws.
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
