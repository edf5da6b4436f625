import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { type SharedKey } from './context-keys';

/**
 * The permission of a link: one viewing of one resource, on behalf of the key that requested it. The holder of a link can do nothing else,
 * and only as long as the key itself could.
 */
export interface AccessLink {
  readonly product: string;
  readonly credentialId: string;
  readonly subscriptionId: string;
  readonly grant: LinkGrant;
  /** The only address that may use it, in the form of `formatIpAddress`; absent: any address that the key's own rules admit. */
  readonly address?: string | undefined;
}

/** The part that the signed context passes to the service. */
export interface LinkGrant {
  /** 128 random bits, base64url: one viewing, paid for when the link was made. */
  readonly viewing: string;
  /** The resource, in the product's own terms. */
  readonly resource: string;
  /** Maximum bytes of all responses of the viewing. */
  readonly allowance: number;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** The query parameter that carries a link. */
export const LINK_PARAMETER = 'link';

/** Longer than any valid link. */
const MAX_TOKEN = 2_048;
const TOKEN = /^tgl_([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{40,2000})$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VIEWING_BYTES = 16;

/** Keys for AES-256-GCM, by id. The first seals, all open. */
export interface LinkKeys {
  readonly first: string;
  readonly byId: ReadonlyMap<string, Buffer>;
}

/** @param keys at least 32 bytes each (`parseSharedKeys`) */
export function createLinkKeys(keys: readonly [SharedKey, ...SharedKey[]]): LinkKeys {
  // Derived, so that a secret that also signs something else gives a different key here.
  const derive = ({ secret }: SharedKey): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'tollgate access link', 32));
  return { first: keys[0].id, byId: new Map(keys.map((key) => [key.id, derive(key)])) };
}

export function newViewing(): string {
  return randomBytes(VIEWING_BYTES).toString('base64url');
}

type Wire = [
  product: string, credential: string, subscription: string, viewing: string, resource: string, allowance: number, expires: number,
  address: string | null,
]; // prettier-ignore

const WIRE_TYPES = ['string', 'string', 'string', 'string', 'string', 'number', 'number'] as const;

/** Text for a URL, `tgl_<key id>.<base64url>`. It is sealed, so that its holder learns neither the resource nor the key. */
export function sealLink({ product, credentialId, subscriptionId, grant, address }: AccessLink, keys: LinkKeys): string {
  const wire: Wire = [
    product,
    credentialId,
    subscriptionId,
    grant.viewing,
    grant.resource,
    grant.allowance,
    grant.expiresAt,
    address ?? null,
  ];
  const head = `tgl_${keys.first}`;
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyOf(keys, keys.first), iv).setAAD(Buffer.from(head));
  const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(wire)), cipher.final(), cipher.getAuthTag()]);
  return `${head}.${sealed.toString('base64url')}`;
}

function keyOf(keys: LinkKeys, id: string): Buffer {
  const key = keys.byId.get(id);
  if (!key) throw new Error(`there is no link key "${id}"`);
  return key;
}

export type OpenedLink = { readonly ok: true; readonly link: AccessLink } | { readonly ok: false; readonly reason: 'forged' | 'expired' };

/** Opens links, and finds the keys with which they were made. */
export interface AccessLinks {
  /** @param nowSeconds Unix seconds */
  open(token: string, nowSeconds: number): OpenedLink;
  /**
   * @returns SHA-256 of the key with this id, 64 lower-case hex digits; undefined when there is none
   * @throws StoreUnavailable
   */
  findKeyHash(credentialId: string): Promise<string | undefined>;
}

const FORGED: OpenedLink = { ok: false, reason: 'forged' };

/** Opens a link. Nothing in it is used before the seal is verified. @param nowSeconds Unix seconds */
export function openLink(token: string, keys: LinkKeys, nowSeconds: number): OpenedLink {
  const [, id = '', body = ''] = (token.length <= MAX_TOKEN && TOKEN.exec(token)) || [];
  const key = keys.byId.get(id);
  const sealed = Buffer.from(body, 'base64url');
  // The last character has bits that belong to no byte, so only one form of each link is accepted.
  if (!key || sealed.toString('base64url') !== body) return FORGED;
  const wire = unseal(sealed, key, `tgl_${id}`);
  if (!wire) return FORGED;
  const [product, credentialId, subscriptionId, viewing, resource, allowance, expiresAt, address] = wire;
  if (!(nowSeconds < expiresAt)) return { ok: false, reason: 'expired' };
  const grant = { viewing, resource, allowance, expiresAt };
  return { ok: true, link: { product, credentialId, subscriptionId, grant, address: address ?? undefined } };
}

function unseal(sealed: Buffer, key: Buffer, head: string): Wire | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(head)).setAuthTag(sealed.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8');
    const wire: unknown = JSON.parse(text);
    return isWire(wire) ? wire : undefined;
  } catch {
    return undefined;
  }
}

function isWire(value: unknown): value is Wire {
  if (!Array.isArray(value) || value.length !== WIRE_TYPES.length + 1) return false;
  const address: unknown = value[WIRE_TYPES.length];
  return WIRE_TYPES.every((type, index) => typeof value[index] === type) && (address === null || typeof address === 'string');
}
