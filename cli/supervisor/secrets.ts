import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Reads a secret, or makes it once; the file is readable by its owner only and never half written. */
function keepSecret(file: string, generate: () => string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  const secret = generate();
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secret;
}

/** 256 bits: as long as the HMAC-SHA256 they key. */
const SECRET_BYTES = 32;

/** What the dashboard signs sessions with: they survive a restart. */
export function keepDashboardSecret(file: string): string {
  return keepSecret(file, () => randomBytes(SECRET_BYTES).toString('base64'));
}

/** In the form of TOLLGATE_SIGNING_KEYS, `id:base64`. */
export function keepSigningKeys(file: string): string {
  return keepSecret(file, () => `local-${randomBytes(4).toString('hex')}:${randomBytes(SECRET_BYTES).toString('base64')}`);
}
