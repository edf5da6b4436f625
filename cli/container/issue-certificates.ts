import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { md, pki } from 'node-forge';

/** Longer than a machine is likely to live. For shorter lives, platform engineers bring certificates of their own authority. */
const VALID_YEARS = 10;
/** Certificates are also valid for a clock that is behind by less than this. */
const BACKDATED_MS = 86_400_000;

/** PEM texts. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

function createPair(): { publicKey: pki.PublicKey; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 3072,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicKey: pki.publicKeyFromPem(publicKey), key: privateKey };
}

/**
 * Creates a serial number. RFC 5280 requires a positive number, DER its shortest form. A first byte from 0x40 to 0x7f satisfies both:
 * OpenSSL refuses a certificate whose number begins with more zeros than its sign needs.
 * @returns 16 random bytes in hexadecimal
 */
function createSerialNumber(): string {
  const number = randomBytes(16);
  number.writeUInt8((number.readUInt8() & 0x3f) | 0x40);
  return number.toString('hex');
}

function createCertificate(name: string, publicKey: pki.PublicKey): pki.Certificate {
  const certificate = pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = createSerialNumber();
  certificate.validity.notBefore = new Date(Date.now() - BACKDATED_MS);
  certificate.validity.notAfter = new Date(Date.now());
  certificate.validity.notAfter.setFullYear(certificate.validity.notAfter.getFullYear() + VALID_YEARS);
  certificate.setSubject([{ name: 'commonName', value: name }]);
  return certificate;
}

/** An authority that signs certificates for a single installation. */
export function createAuthority(name: string): IssuedCertificate {
  const { publicKey, key } = createPair();
  const certificate = createCertificate(name, publicKey);
  certificate.setIssuer(certificate.subject.attributes);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  certificate.sign(pki.privateKeyFromPem(key), md.sha256.create());
  return { certificate: pki.certificateToPem(certificate), key };
}

/** @param hosts names under which others call it; empty for a program that only makes calls */
export function issueCertificate(authority: IssuedCertificate, name: string, hosts: readonly string[] = []): IssuedCertificate {
  const { publicKey, key } = createPair();
  const certificate = createCertificate(name, publicKey);
  certificate.setIssuer(pki.certificateFromPem(authority.certificate).subject.attributes);
  const DNS_NAME = 2;
  const names = hosts.length > 0 ? [{ name: 'subjectAltName', altNames: hosts.map((value) => ({ type: DNS_NAME, value })) }] : [];
  certificate.setExtensions([
    { name: 'basicConstraints', cA: false, critical: true },
    { name: 'keyUsage', digitalSignature: true, critical: true },
    { name: 'extKeyUsage', serverAuth: hosts.length > 0, clientAuth: true },
    ...names,
  ]);
  certificate.sign(pki.privateKeyFromPem(authority.key), md.sha256.create());
  return { certificate: pki.certificateToPem(certificate), key };
}
