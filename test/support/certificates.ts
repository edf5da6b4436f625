import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type MutualTls } from '../../services/kit/mutual-tls';

/*
 * Certificates for tests, written byte by byte in DER (X.690, RFC 5280): node:crypto reads certificates but issues none.
 */

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Buffer): Buffer => der(0x04, content);
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);

const COMMON_NAME = oid('550403');
const ALTERNATIVE_NAME = oid('551d11');
const BASIC_CONSTRAINTS = oid('551d13');
const ECDSA_SHA256 = sequence(oid('2a8648ce3d040302'));
const TRUE = Buffer.from([0x01, 0x01, 0xff]);

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(text)))));

/** UTCTime: years 1950 to 2049. */
function timeOf(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

/** What the certificate may be used for: signing others, or being 127.0.0.1. */
function extensionsOf(isAuthority: boolean, hosts: readonly string[]): Buffer {
  const constraints = sequence(BASIC_CONSTRAINTS, TRUE, octets(sequence(...(isAuthority ? [TRUE] : []))));
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  const alternatives = sequence(ALTERNATIVE_NAME, octets(sequence(...names)));
  return der(0xa3, sequence(constraints, ...(names.length > 0 ? [alternatives] : [])));
}

interface Certificate {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly issuer: { readonly name: string; readonly key: KeyObject };
  readonly validMs: readonly [from: number, to: number];
  readonly isAuthority?: boolean;
  readonly hosts?: readonly string[];
}

function issue({ name, publicKey, issuer, validMs: [from, to], isAuthority = false, hosts = [] }: Certificate): Buffer {
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0x01]), randomBytes(15)),
    ECDSA_SHA256,
    nameOf(issuer.name),
    sequence(timeOf(from), timeOf(to)),
    nameOf(name),
    publicKey.export({ format: 'der', type: 'spki' }),
    extensionsOf(isAuthority, hosts),
  );
  const whole = sequence(signed, ECDSA_SHA256, bits(sign('sha256', signed, issuer.key)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`);
}

const DAY_MS = 86_400_000;

export interface IssueOptions {
  /** Days from now; negative ones have passed. A day ago to a week from now unless given. */
  readonly validDays?: readonly [from: number, to: number];
  /** `127.0.0.1` and `localhost` unless given. */
  readonly hosts?: readonly string[];
}

/** A certificate authority of a test. */
export interface TestAuthority {
  readonly ca: Buffer;
  /** A certificate with its key, and this authority as the one to trust. */
  issue(name: string, options?: IssueOptions): MutualTls;
}

function newKey(): { publicKey: KeyObject; privateKey: KeyObject; pem: Buffer } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = Buffer.from(privateKey.export({ format: 'pem', type: 'pkcs8' }));
  return { publicKey, privateKey: createPrivateKey(pem), pem };
}

export function createTestAuthority(name: string): TestAuthority {
  const own = newKey();
  const issuer = { name, key: own.privateKey };
  const now = Date.now();
  const span = ([from, to]: readonly [number, number]): [number, number] => [now + from * DAY_MS, now + to * DAY_MS];
  const ca = issue({ name, publicKey: own.publicKey, issuer, validMs: span([-30, 30]), isAuthority: true });
  return {
    ca,
    issue(subject, { validDays = [-1, 7] as const, hosts = ['127.0.0.1', 'localhost'] } = {}) {
      const { publicKey, pem } = newKey();
      return { ca, cert: issue({ name: subject, publicKey, issuer, validMs: span(validDays), hosts }), key: pem };
    },
  };
}
