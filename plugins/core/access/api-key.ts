import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { type KeyMode } from '../ports';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 27 base62 digits carry 160.7 bits. */
const SECRET_LENGTH = 27;
/** 6 base62 digits hold any CRC-32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^tg_(live|test)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
const SELLER_SHAPE = new RegExp(`^tg_seller_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
const ADMIN_SHAPE = new RegExp(`^tg_admin_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
/** Foreign keys that were imported by hash may have any form up to this length. */
export const MAX_KEY = 512;

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = (BASE62[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

function withChecksum(kind: KeyMode | 'admin' | 'seller', secret: string): string {
  const body = `tg_${kind}_${secret}`;
  return body + checksumOf(body);
}

function hasChecksum(text: string): boolean {
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

function randomSecret(): string {
  return Array.from({ length: SECRET_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('');
}

/** A new API key, `tg_<mode>_<27 base62><6 base62 checksum>`. Show it once; store only {@link hashApiKey} and {@link maskApiKey}. */
export function generateApiKey(mode: KeyMode): string {
  return withChecksum(mode, randomSecret());
}

/** A new token of the management API, `tg_admin_<27 base62><6 base62 checksum>`. It is not an API key, and gateways never look it up. */
export function generateAdminToken(): string {
  return withChecksum('admin', randomSecret());
}

/** False for text that cannot be such a token, so that no look-up is spent on it. */
export function isPlausibleAdminToken(text: string): boolean {
  return ADMIN_SHAPE.test(text) && hasChecksum(text);
}

/** A new token of the seller's API; as {@link generateAdminToken}. */
export function generateSellerToken(): string {
  return withChecksum('seller', randomSecret());
}

/** As {@link isPlausibleAdminToken}, for the seller's API. */
export function isPlausibleSellerToken(text: string): boolean {
  return SELLER_SHAPE.test(text) && hasChecksum(text);
}

/**
 * Derives the same key from the same seed, for a key that must be usable without its secret being stored anywhere.
 * @param seed an unguessable secret of at least 27 bytes
 */
export function deriveApiKey(mode: KeyMode, seed: Uint8Array): string {
  if (seed.length < SECRET_LENGTH) throw new RangeError(`a key needs a seed of ${SECRET_LENGTH} bytes`);
  return withChecksum(mode, Array.from(seed.subarray(0, SECRET_LENGTH), (byte) => BASE62[byte % BASE62.length]).join(''));
}

/**
 * False for text that cannot be a key, so that no look-up is spent on it: a `tg_` key whose checksum fails, an empty or overlong text,
 * or one with characters that no key has.
 */
export function isPlausibleKey(text: string): boolean {
  if (!text.startsWith('tg_')) return text.length > 0 && text.length <= MAX_KEY && /^[\x21-\x7e]+$/.test(text);
  return SHAPE.test(text) && hasChecksum(text);
}

/** SHA-256 of the key, 64 lower-case hex digits: all that is stored of the secret. */
export function hashApiKey(key: string): string {
  // Takes a third of createHash's time, once for every request.
  return hash('sha256', key, 'hex');
}

export interface KeyDisplay {
  /** `tg_live` or `tg_test`; empty for a foreign key. */
  readonly prefix: string;
  readonly lastFour: string;
}

/** What may be shown of a key. A short foreign key shows nothing: four of eight characters would be half the secret. */
export function displayOf(key: string): KeyDisplay {
  const prefix = /^tg_(live|test)(?=_)/.exec(key)?.[0] ?? '';
  return { prefix, lastFour: key.length >= 16 ? key.slice(-4) : '' };
}

/** `tg_live…1a2B`, for logs and lists. */
export function maskApiKey(key: string): string {
  const { prefix, lastFour } = displayOf(key);
  return `${prefix}…${lastFour}`;
}
