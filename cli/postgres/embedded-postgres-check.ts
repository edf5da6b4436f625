import { Client } from 'pg';
import { NAME, type Run } from './embedded-postgres-run';

const ANSWER_DEADLINE_MS = 1_500;
/** Creating the database copies some files, which takes its time on a busy disk. */
const QUERY_DEADLINE_MS = 10_000;

/** Holds the password. */
export function urlOf(run: Run, port: number, database: string): string {
  return `postgres://${NAME}:${run.password}@127.0.0.1:${port}/${database}`;
}

/** Connects to the server and creates Tollgate's database when it is missing. */
export async function checkServer(run: Run, port: number): Promise<void> {
  const client = new Client({
    connectionString: urlOf(run, port, 'postgres'),
    connectionTimeoutMillis: ANSWER_DEADLINE_MS,
    query_timeout: QUERY_DEADLINE_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`).catch(ignoreDuplicate);
  } catch (cause) {
    if (codeOf(cause) !== WRONG_PASSWORD) throw cause;
    throw new WrongPassword(`${run.files.passwordFile} does not hold the password of the data beside it`, { cause });
  } finally {
    await client.end().catch(() => undefined);
  }
}

export class WrongPassword extends Error {}

/** SQLSTATEs. */
const WRONG_PASSWORD = '28P01';
export const STARTING_UP = '57P03';

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** Another starter created the database in the same moment. */
function ignoreDuplicate(error: unknown): void {
  if (codeOf(error) !== '42P04' && codeOf(error) !== '23505') throw error;
}
