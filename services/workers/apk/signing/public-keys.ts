/**
 * SHA-256 of the certificates whose private keys are public in Android's source (AOSP `build/make/target/product/security/*.x509.pem`). The
 * tools of every version sign with one of them unless configured otherwise.
 */
const PUBLIC_TEST_CERTIFICATES: ReadonlyMap<string, string> = new Map([
  ['a40da80a59d170caa950cf15c18c454d47a39b26989d8b640ecd745ba71bf5dc', 'testkey'],
  ['c8a2e9bccf597c2fb6dc66bee293fc13f2fc47ec77bc6b2b0d52c11f51192ab8', 'platform'],
  ['28bbfe4a7b97e74681dc55c2fbb6ccb8d6c74963733f6af6ae74d8c3a6e879fd', 'shared'],
  ['465983f7791f2abeb43ea2cbdc7f21a8260b72bc08a55c839fc1a43bc741a81e', 'media'],
  ['e1dbadce60dc080d15b58a014b0dcf9400e24de23fa00b287a5a982bfebda2ee', 'networkstack'],
  ['abf21f9e2af1d881cc673fddcefa6ed9c269a437bd64b279cf45844cfd589126', 'sdk_sandbox'],
]);

/** Name of the Android test key that a certificate belongs to. @param sha256 of the certificate, lower-case hexadecimal */
export function publicTestKey(sha256: string): string | undefined {
  return PUBLIC_TEST_CERTIFICATES.get(sha256);
}

/** True for keys that anyone has or can make: those of the build tools and of Android's source. */
export function isDebugCertificate({ subject, sha256 }: { readonly subject: string; readonly sha256: string }): boolean {
  return /(^|, )CN=Android Debug(,|$)/.test(subject) || publicTestKey(sha256) !== undefined;
}
