import { parseKeySet, parseSharedKeys, sharedContextKey } from '../../plugins/core/proof/context-keys';
import { createContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey } from '../../plugins/core/proof/product-keys';
import { createContextKeys, verifyContext } from '../../plugins/core/proof/verify-context';
import { signingSettings } from '../../plugins/server/signing-settings';
import { contextFor } from '../kit/context';

const pair = createContextKey();
const SECRETS = `1:${Buffer.alloc(32, 1).toString('base64')},2:${Buffer.alloc(32, 2).toString('base64')}`;
const SHARED = `old:${Buffer.alloc(32, 3).toString('base64')}`;
const [first, second] = parseSharedKeys(SECRETS);
if (!second) throw new Error('there is one secret');

/** By what each key is called here. */
const believers = {
  pair: createContextKeys(parseKeySet(JSON.stringify(pair.keySet)), []),
  shared: createContextKeys([sharedContextKey(parseSharedKeys(SHARED)[0])], []),
  'product, generation 1': createContextKeys([deriveProductKey(first, 'api-ip')], []),
  'product, generation 2': createContextKeys([deriveProductKey(second, 'api-ip')], []),
  'derived pair': createContextKeys([derivePrivateKey(first)], []),
};

/** What the proofs of api-ip are signed with, where the catalogue says hs256, eddsa, or nothing as before there was a choice. */
function signedWith(env: Record<string, string>): (string | undefined)[] {
  const { sign } = signingSettings.parse(env);
  return (['hs256', 'eddsa', undefined] as const).map((proof) => {
    const token = sign(contextFor('api-ip'), proof);
    const expected = { products: ['api-ip'], nowSeconds: 0 };
    return Object.entries(believers).find(([, keys]) => verifyContext(token, keys, expected).ok)?.[0];
  });
}

describe('a plugin server signs', () => {
  const byProduct = 'product, generation 1';
  it.each([
    ['with what the first secret gives', { TOLLGATE_CONTEXT_SECRETS: SECRETS }, [byProduct, 'derived pair', 'derived pair']],
    [
      'for upstreams with the pair that it is given',
      { TOLLGATE_CONTEXT_SECRETS: SECRETS, TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      [byProduct, 'pair', 'pair'],
    ],
    [
      'as before with a pair alone, whatever the catalogue says',
      { TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      ['pair', 'pair', 'pair'],
    ],
    ['as before with shared keys alone', { TOLLGATE_SIGNING_KEYS: SHARED }, ['shared', 'shared', 'shared']],
    [
      'as before with the pair where shared keys are there too',
      { TOLLGATE_SIGNING_KEYS: SHARED, TOLLGATE_CONTEXT_PRIVATE_KEY: pair.privateKey },
      ['pair', 'pair', 'pair'],
    ],
  ])('%s', (_how, env, keys) => {
    expect(signedWith(env)).toEqual(keys);
  });

  it('nothing, and does not start, without any key', () => {
    expect(signingSettings.safeParse({}).error?.issues).toMatchObject([
      { path: ['TOLLGATE_CONTEXT_SECRETS'], message: 'is required and not set' },
    ]);
  });

  it('and says with what, but never the key', () => {
    const { description } = signingSettings.parse({ TOLLGATE_CONTEXT_SECRETS: SECRETS });
    expect(description).toBe(`HS256 by product, generation 1; EdDSA, key ${derivePrivateKey(first).id}`);
  });
});
