import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { type CertificateFacts } from '../report';
import { isDebugCertificate } from './public-keys';
import { contextTag, DER, derChildren, type DerElement, expectTag, oidOf, readDer } from './der';

/** A signer's certificate, parsed once. */
export interface Certificate {
  readonly encoded: Buffer;
  readonly publicKey: KeyObject;
  /** SubjectPublicKeyInfo, encoded. */
  readonly spki: Buffer;
  /** Issuer and serial, encoded. A PKCS #7 signature names its certificate by them. */
  readonly issuer: Buffer;
  readonly serial: Buffer;
  readonly facts: CertificateFacts;
}

/** Names that Java's and Android's tools use. */
const SIGNATURE_NAMES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'MD2withRSA',
  '1.2.840.113549.1.1.4': 'MD5withRSA',
  '1.2.840.113549.1.1.5': 'SHA1withRSA',
  '1.2.840.113549.1.1.10': 'RSASSA-PSS',
  '1.2.840.113549.1.1.11': 'SHA256withRSA',
  '1.2.840.113549.1.1.12': 'SHA384withRSA',
  '1.2.840.113549.1.1.13': 'SHA512withRSA',
  '1.2.840.113549.1.1.14': 'SHA224withRSA',
  '1.2.840.10040.4.3': 'SHA1withDSA',
  '2.16.840.1.101.3.4.3.1': 'SHA224withDSA',
  '2.16.840.1.101.3.4.3.2': 'SHA256withDSA',
  '1.2.840.10045.4.1': 'SHA1withECDSA',
  '1.2.840.10045.4.3.1': 'SHA224withECDSA',
  '1.2.840.10045.4.3.2': 'SHA256withECDSA',
  '1.2.840.10045.4.3.3': 'SHA384withECDSA',
  '1.2.840.10045.4.3.4': 'SHA512withECDSA',
};

/** True when the certificate's own signature uses a deprecated digest. */
export function hasWeakDigest(facts: CertificateFacts): boolean {
  return /^(MD2|MD5|SHA1)with/.test(facts.sig_alg);
}

/** @throws MalformedError when it cannot be read */
export function parseCertificate(encoded: Buffer): Certificate {
  const [tbs, algorithm] = derChildren(expectTag(readDer(encoded), DER.sequence));
  const fields = derChildren(expectTag(tbs, DER.sequence));
  if (fields[0]?.tag === contextTag(0)) fields.shift();
  const [serial, , issuer, , , spki] = fields;
  const certificate = parseX509(encoded);
  const publicKey = keyOf(certificate);
  return {
    encoded,
    publicKey,
    spki: expectTag(spki, DER.sequence).encoded,
    issuer: expectTag(issuer, DER.sequence).encoded,
    serial: expectTag(serial, DER.integer).encoded,
    facts: describe(certificate, { encoded, publicKey, algorithm }),
  };
}

function parseX509(encoded: Buffer): X509Certificate {
  try {
    return new X509Certificate(encoded);
  } catch (error) {
    throw new MalformedError('a certificate cannot be read', { cause: error });
  }
}

function keyOf(certificate: X509Certificate): KeyObject {
  try {
    return certificate.publicKey;
  } catch (error) {
    throw new MalformedError('the key of a certificate cannot be read', { cause: error });
  }
}

interface Parts {
  readonly encoded: Buffer;
  readonly publicKey: KeyObject;
  readonly algorithm: DerElement | undefined;
}

function describe(certificate: X509Certificate, { encoded, publicKey, algorithm }: Parts): CertificateFacts {
  const oid = oidOf(derChildren(expectTag(algorithm, DER.sequence))[0]);
  const subject = nameOf(certificate.subject);
  const sha256 = createHash('sha256').update(encoded).digest('hex');
  return {
    subject,
    issuer: nameOf(certificate.issuer),
    serial: certificate.serialNumber.toLowerCase(),
    not_before: isoDate(certificate.validFrom),
    not_after: isoDate(certificate.validTo),
    sha256,
    key: describeKey(publicKey),
    sig_alg: SIGNATURE_NAMES[oid] ?? oid,
    debug: isDebugCertificate({ subject, sha256 }),
  };
}

/** Puts the most specific part first, as RFC 2253 and apksigner do. OpenSSL returns a line for each part, in the order of the encoding. */
function nameOf(lines: string | undefined): string {
  return (lines ?? '').split('\n').reverse().join(', ');
}

function isoDate(text: string): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : new Date(at).toISOString().replace('.000Z', 'Z');
}

function describeKey(key: KeyObject): string {
  const { modulusLength, namedCurve } = key.asymmetricKeyDetails ?? {};
  const type = (key.asymmetricKeyType ?? 'unknown').toUpperCase();
  return [type, modulusLength ?? namedCurve].filter((part) => part !== undefined).join(' ');
}
