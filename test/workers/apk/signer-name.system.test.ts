import { verifyPkcs7 } from '../../../services/workers/apk/signing/pkcs7';
import { ApkBuilder, RELEASE_KEY } from '../../support/apk/apk-builder';
import { FULL_APP } from '../../support/apk/apk-samples';

const PRINTABLE = 0x13;
const UTF8 = 0x0c;

let builder: ApkBuilder;
let signatureFile: Buffer;
let signed: Buffer;

beforeAll(async () => {
  builder = await ApkBuilder.create();
  const apk = await builder.sign(await builder.build('full', FULL_APP), 'v1', { key: RELEASE_KEY, v1: true, v2: false, v3: false });
  signatureFile = await builder.extract(apk, 'META-INF/RELEASE.RSA');
  signed = await builder.extract(apk, 'META-INF/RELEASE.SF');
});

afterAll(() => builder.close());

/** The common name as the signer info has it: after those of the certificate, which are its issuer and its subject. */
function changeSignerName(change: (bytes: Buffer, at: number) => void): Buffer {
  const changed = Buffer.from(signatureFile);
  const commonName = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03]);
  const at = changed.lastIndexOf(commonName) + commonName.length;
  expect([PRINTABLE, UTF8]).toContain(changed[at]);
  change(changed, at);
  return changed;
}

test('finds the signer whose name is written as another type of text than in the certificate, as apksigner does', () => {
  const [expected] = verifyPkcs7(signatureFile, signed);
  const retyped = changeSignerName((bytes, at) => (bytes[at] = bytes[at] === UTF8 ? PRINTABLE : UTF8));
  expect(verifyPkcs7(retyped, signed)[0]?.facts.sha256).toBe(expected?.facts.sha256);
});

test('does not take a certificate of another name for the signer', () => {
  const renamed = changeSignerName((bytes, at) => (bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 1));
  expect(() => verifyPkcs7(renamed, signed)).toThrow('does not verify');
});
