import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeySet, parsePrivateKey } from '../../plugins/core/proof/context-keys';
import { runCommand } from './support/run-command';

interface Created {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: object;
  readonly jwks: { readonly keys: readonly { readonly kid: string }[] };
}

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-key-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function create(...more: string[]): Promise<Created> {
  const { code, stdout, stderr } = await runCommand(['signing-key', 'create', '--json', ...more]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Created;
}

test.each(['EdDSA', 'HS256'])(
  'signing-key create prints a new key for %s and the set that verifies it, and needs no database',
  async (alg) => {
    const { kid, privateKey, jwks, ...rest } = await create('--alg', alg);
    expect(rest).toEqual({ alg });
    expect(parsePrivateKey(JSON.stringify(privateKey))).toMatchObject({ id: kid, algorithm: alg });
    expect(parseKeySet(JSON.stringify(jwks))).toMatchObject([{ id: kid, algorithm: alg }]);
  },
);

test('signing-key create prints lines that a shell and an .env file read', async () => {
  const { stdout } = await runCommand(['signing-key', 'create']);
  const values = stdout
    .trimEnd()
    .split('\n')
    .map((line) => /^(\w+)='([^']+)'$/.exec(line)?.slice(1) ?? []);
  expect(values.map(([name]) => name)).toEqual(['TOLLGATE_CONTEXT_PRIVATE_KEY', 'TOLLGATE_CONTEXT_JWKS']);
  const [[, privateKey = ''] = [], [, jwks = ''] = []] = values;
  expect(parseKeySet(jwks).map(({ id }) => id)).toEqual([parsePrivateKey(privateKey).id]);
});

test('signing-key create keeps the keys of a set that goes on being believed', async () => {
  const file = join(folder, 'jwks.json');
  const former = await create();
  writeFileSync(file, JSON.stringify(former.jwks));
  const { kid, jwks } = await create('--jwks', file);
  expect(jwks.keys.map((key) => key.kid)).toEqual([kid, former.kid]);
});

test.each([
  ['a file that is not there', undefined, 'cannot be read'],
  ['a private key', JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'a', x: 'x', d: 'd' }] }), 'holds a private key'],
  ['no key set', '[]', 'is not a JSON object'],
])('signing-key create refuses %s as a set', async (_what, text, reason) => {
  const file = join(folder, 'jwks.json');
  if (text !== undefined) writeFileSync(file, text);
  const { code, stdout, stderr } = await runCommand(['signing-key', 'create', '--jwks', file]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(`tollgate: ${file} ${reason}${reason.startsWith('holds') ? '; whoever verifies needs the public one alone' : ''}\n`);
});
