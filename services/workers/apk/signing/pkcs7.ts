import { createHash } from 'node:crypto';
import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import { verifySignature } from './algorithms';
import { type Certificate, parseCertificate } from './certificate';
import { contextTag, DER, derChildren, type DerElement, expectTag, oidOf, readDer } from './der';

const SIGNED_DATA = '1.2.840.113549.1.7.2';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const MAX_CERTIFICATES = 50;

type Hash = 'md5' | 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

const HASHES: Readonly<Record<string, Hash>> = {
  '1.2.840.113549.2.5': 'md5',
  '1.3.14.3.2.26': 'sha1',
  '2.16.840.1.101.3.4.2.4': 'sha224',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

/**
 * Verifies a detached PKCS #7 signature. Returns its signer's certificate first, then the others of its chain.
 * @throws MalformedError when no signer info verifies
 */
export function verifyPkcs7(signatureFile: Buffer, signed: Buffer): Certificate[] {
  const [contentType, content] = derChildren(expectTag(readDer(signatureFile), DER.sequence));
  if (oidOf(contentType) !== SIGNED_DATA) throw new MalformedError('a signature file is not PKCS #7 signed data');
  const [wrapped] = derChildren(expectTag(content, contextTag(0)));
  const fields = derChildren(expectTag(wrapped, DER.sequence));
  const bags = fields.find((each) => each.tag === contextTag(0));
  const certificates = (bags ? derChildren(bags) : []).slice(0, MAX_CERTIFICATES).map((each) => parseCertificate(each.encoded));
  const infos = derChildren(expectTag(fields.at(-1), DER.set)).slice(0, LIMITS.signers);
  for (const info of infos) {
    const signer = verifiedSigner(info, certificates, signed);
    if (signer) return [signer, ...certificates.filter((each) => each !== signer)];
  }
  throw new MalformedError('the signature over a signature file does not verify');
}

function verifiedSigner(info: DerElement, certificates: readonly Certificate[], signed: Buffer): Certificate | undefined {
  const [, issuerAndSerial, digestAlgorithm, ...rest] = derChildren(expectTag(info, DER.sequence));
  const [issuer, serial] = derChildren(expectTag(issuerAndSerial, DER.sequence));
  const signer = certificates.find((each) => serial?.encoded.equals(each.serial) && issuer && isSameName(issuer.encoded, each.issuer));
  const hash = HASHES[oidOf(derChildren(expectTag(digestAlgorithm, DER.sequence))[0])];
  if (!signer || !hash) return undefined;
  const attributes = rest[0]?.tag === contextTag(0) ? rest.shift() : undefined;
  const signature = expectTag(rest[1], DER.octetString).content;
  const data = attributes ? signedAttributes(attributes, hash, signed) : signed;
  return data && verifies(signer, { hash, data, signature }) ? signer : undefined;
}

function verifies({ publicKey }: Certificate, { hash, data, signature }: { hash: Hash; data: Buffer; signature: Buffer }): boolean {
  const keyType = publicKey.asymmetricKeyType;
  if (keyType !== 'rsa' && keyType !== 'ec' && keyType !== 'dsa') return false;
  return verifySignature({ hash, keyType }, { data, signature, key: publicKey });
}

/** Signed attributes hold the digest of the signed file. If there are any, the signature covers them instead of the file. */
function signedAttributes(attributes: DerElement, hash: Hash, signed: Buffer): Buffer | undefined {
  const digest = createHash(hash).update(signed).digest();
  const matches = derChildren(attributes).some((attribute) => {
    const [type, values] = derChildren(expectTag(attribute, DER.sequence));
    if (oidOf(type) !== MESSAGE_DIGEST) return false;
    return derChildren(expectTag(values, DER.set))[0]?.content.equals(digest) === true;
  });
  if (!matches) return undefined;
  const asSet = Buffer.from(attributes.encoded);
  asSet[0] = DER.set;
  return asSet;
}

/** UTF8String, PrintableString and IA5String. The same text has the same bytes in each. */
const TEXT_TAGS: readonly number[] = [0x0c, 0x13, 0x16];

/**
 * True when two encoded names (X.501) are equal. Some signers change the type of a text, and Android accepts that.
 * @throws MalformedError when the bytes differ and one of them is not a name
 */
function isSameName(one: Buffer, other: Buffer): boolean {
  return one.equals(other) || partsOf(one) === partsOf(other);
}

/** Sets of attributes, each with type and value, in order. */
function partsOf(name: Buffer): string {
  const sets = derChildren(expectTag(readDer(name), DER.sequence)).map((set) => derChildren(expectTag(set, DER.set)).map(attributeOf));
  return JSON.stringify(sets);
}

function attributeOf(attribute: DerElement): string[] {
  return derChildren(expectTag(attribute, DER.sequence)).map(({ tag, content }) => {
    const kind = TEXT_TAGS.includes(tag) ? 'text' : String(tag);
    return `${kind} ${content.toString('hex')}`;
  });
}
