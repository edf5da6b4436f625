import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseRole } from '../database-roles/privileges';

/** Reads a secret, or creates it once. Only its owner can read the file, which is never partially written. */
export function keepSecret(file: string, generate: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const secret = generate();
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secret;
}

/** 256 bits, the length of the HMAC-SHA256 that uses them. */
const SECRET_BYTES = 32;

/** The secret with which the dashboard signs sessions, so that they survive a restart. */
export function keepDashboardSecret(file: string): string {
  return keepSecret(file, () => randomBytes(SECRET_BYTES).toString('base64'));
}

/** The passwords of the embedded database's roles, one file for each role. */
export function keepDatabasePasswords(folder: string): Readonly<Record<DatabaseRole, string>> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const keep = (role: DatabaseRole): string => keepSecret(join(folder, role), () => randomBytes(SECRET_BYTES).toString('base64url'));
  return {
    tollgate_migrate: keep('tollgate_migrate'),
    tollgate_plugin: keep('tollgate_plugin'),
    tollgate_dashboard: keep('tollgate_dashboard'),
    tollgate_service: keep('tollgate_service'),
  };
}

/** Keeps keys in the form of TOLLGATE_SIGNING_KEYS and GDPLAY_LINK_KEYS, `id:base64`. */
export function keepSharedKeys(file: string): string {
  return keepSecret(file, () => `local-${randomBytes(4).toString('hex')}:${randomBytes(SECRET_BYTES).toString('base64')}`);
}
