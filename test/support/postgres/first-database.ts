import { join } from 'node:path';
import { Client, type Pool } from 'pg';
import { grantPrivileges } from '../../../cli/database-roles/grant-privileges';
import { startEmbeddedPostgres } from '../../../cli/postgres/embedded-postgres';
import { migrate } from '../../../plugins/stores/postgres/migrate';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { CATALOGUE } from '../catalogue';
import { runFolder } from '../run-folder';

/** @returns the URL of a server for all tests of a run */
export async function startServer(): Promise<string> {
  // Test data is thrown away, so that no write needs to wait for the disk.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const { url } = await startEmbeddedPostgres({ dataDir: join(runFolder(), 'postgres'), settings });
  await cheapenSignIn(url);
  return url;
}

/** Tests sign in thousands of times, and each time node would hash the password 4,096 times. */
async function cheapenSignIn(url: string): Promise<void> {
  const { username, password } = new URL(url);
  const admin = new Client({ connectionString: url });
  await admin.connect();
  try {
    await admin.query('SET scram_iterations = 1');
    await admin.query(`ALTER ROLE ${admin.escapeIdentifier(username)} PASSWORD ${admin.escapeLiteral(password)}`);
  } finally {
    await admin.end();
  }
}

/**
 * Migrates and seeds the database that all others are copies of.
 * @param url of the template, which need not exist
 * @returns its name
 */
export async function fillTemplate(admin: Pool, url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  await admin.query(`DROP DATABASE IF EXISTS ${name}`);
  await admin.query(`CREATE DATABASE ${name}`);
  await migrate(url);
  const pool = createPool(url, { max: 1 });
  try {
    await applyCatalogue(pool, CATALOGUE, { actor: 'test' });
    await grantPrivileges(pool);
  } finally {
    await pool.end();
  }
  return name;
}
