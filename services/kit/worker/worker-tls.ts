import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type MutualTls } from '../mutual-tls';
import { codeOf } from '../error-code';

/** Parses a PEM text, to know that it is valid. The error that it throws is not shown. */
type ParsePem = (pem: Buffer) => unknown;

interface PemKind {
  /** Ends a sentence that starts with the setting's name. */
  readonly what: string;
  readonly parse: ParsePem;
}

const CERTIFICATE: PemKind = { what: 'a certificate', parse: (pem) => new X509Certificate(pem) };
const PRIVATE_KEY: PemKind = { what: 'a private key without a passphrase', parse: (pem) => createPrivateKey(pem) };

const NAMES = ['WORKER_TLS_CA', 'WORKER_TLS_CERT', 'WORKER_TLS_KEY'] as const;
type Name = (typeof NAMES)[number];
const KINDS: Readonly<Record<Name, PemKind>> = { WORKER_TLS_CA: CERTIFICATE, WORKER_TLS_CERT: CERTIFICATE, WORKER_TLS_KEY: PRIVATE_KEY };

/** @returns the PEM, or what is wrong with it, without quoting any of it */
function readPem(value: string, { what, parse }: PemKind): Buffer | string {
  let pem: Buffer;
  try {
    pem = value.includes('-----BEGIN ') ? Buffer.from(value) : readFileSync(value);
  } catch (error) {
    return `names a file that cannot be read (${codeOf(error) || 'unknown reason'})`;
  }
  try {
    parse(pem);
    return pem;
  } catch {
    return `does not contain ${what} in PEM form`;
  }
}

function belongTogether({ cert, key }: MutualTls): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

/**
 * Mutual TLS between services and workers: all three settings, or none for plain connections. Each is the path of a PEM file, or the PEM
 * text itself (in a container, read from the file that `WORKER_TLS_…_FILE` names). Both sides use the same settings, which are read once,
 * at start.
 */
export const workerTlsSettings = z
  .object({ WORKER_TLS_CA: z.string().optional(), WORKER_TLS_CERT: z.string().optional(), WORKER_TLS_KEY: z.string().optional() })
  .transform((given, context): MutualTls | undefined => {
    if (NAMES.every((name) => given[name] === undefined)) return undefined;
    let isSound = true;
    const complain = (name: Name, message: string): Buffer => {
      isSound = false;
      context.addIssue({ code: 'custom', path: [name], message });
      return Buffer.alloc(0);
    };
    const read = (name: Name): Buffer => {
      const value = given[name];
      const pem = value === undefined ? 'is required and not set' : readPem(value, KINDS[name]);
      return typeof pem === 'string' ? complain(name, pem) : pem;
    };
    const tls = { ca: read('WORKER_TLS_CA'), cert: read('WORKER_TLS_CERT'), key: read('WORKER_TLS_KEY') };
    if (isSound && !belongTogether(tls)) complain('WORKER_TLS_KEY', 'is not the key of WORKER_TLS_CERT');
    return tls;
  });
