import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const PERIOD_S = 30;

/** RFC 4648, without padding. */
function fromBase32(text: string): Buffer {
  let bits = '';
  for (const letter of text) bits += ALPHABET.indexOf(letter).toString(2).padStart(5, '0');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/**
 * The code that an authenticator shows (RFC 6238: SHA-1, six digits, 30 s).
 * @param secret base32, as the `otpauth:` address has it
 * @param nowMs Unix milliseconds
 */
export function totpOf(secret: string, nowMs = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 1000 / PERIOD_S)));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

const lastSteps = new Map<string, number>();

/** A code that nobody has used yet: the next one, which is taken a period early. The third within a period waits for its turn. */
export async function unusedTotpOf(secret: string): Promise<string> {
  const periodMs = PERIOD_S * 1000;
  const step = Math.max(Math.floor(Date.now() / periodMs), (lastSteps.get(secret) ?? 0) + 1);
  lastSteps.set(secret, step);
  await sleep(Math.max(0, (step - 1) * periodMs - Date.now()));
  return totpOf(secret, step * periodMs);
}

/** The secret in an `otpauth:` address. */
export function secretOf(totpUri: string): string {
  return new URL(totpUri).searchParams.get('secret') ?? '';
}
