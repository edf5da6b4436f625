import { randomBytes } from 'node:crypto';
import { type SharedKey } from '../../plugins/core/proof/context-keys';
import { createContextKey, keySetOf, type NewContextKey } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets } from '../../plugins/core/proof/product-keys';
import { verifyContext } from '../../plugins/core/proof/verify-context';
import { signingSettings } from '../../plugins/server/signing-settings';
import { proofSettings } from '../../services/kit/service/proof-settings';
import { contextFor } from '../kit/context';

type Env = Readonly<Record<string, string>>;

/** What each step sets. */
interface Rotation {
  readonly signOld: Env;
  readonly believeBoth: Env;
  readonly signNext: Env;
  readonly believeNext: Env;
}

function ofPairs(): Rotation {
  const [old, next] = [createContextKey(), createContextKey()];
  const believe = (...pairs: NewContextKey[]): Env => ({
    TOLLGATE_CONTEXT_JWKS: JSON.stringify({ keys: pairs.flatMap(({ keySet }) => keySet.keys) }),
  });
  return {
    signOld: { TOLLGATE_CONTEXT_PRIVATE_KEY: old.privateKey },
    believeBoth: believe(next, old),
    signNext: { TOLLGATE_CONTEXT_PRIVATE_KEY: next.privateKey },
    believeNext: believe(next),
  };
}

const newShared = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;

function ofSharedKeys(): Rotation {
  const [old, next] = [newShared('old'), newShared('next')];
  return {
    signOld: { TOLLGATE_SIGNING_KEYS: old },
    believeBoth: { TOLLGATE_SIGNING_KEYS: `${old},${next}` },
    signNext: { TOLLGATE_SIGNING_KEYS: `${next},${old}` },
    believeNext: { TOLLGATE_SIGNING_KEYS: next },
  };
}

/** From a shared key to a pair. */
function toPairs(): Rotation {
  const { signNext, believeNext } = ofPairs();
  const old = { TOLLGATE_SIGNING_KEYS: newShared('old') };
  return { signOld: old, believeBoth: { ...old, ...believeNext }, signNext, believeNext };
}

/** What a service of api-vahaan is told of these secrets: the keys of its product, and the public set for proof: eddsa. */
function believeSecrets(secrets: readonly SharedKey[]): Env {
  return {
    TOLLGATE_CONTEXT_KEYS: JSON.stringify(keySetOf(...secrets.map((secret) => deriveProductKey(secret, 'api-vahaan')))),
    TOLLGATE_CONTEXT_JWKS: JSON.stringify(keySetOf(...secrets.map(derivePrivateKey))),
  };
}
const signSecrets = (secrets: readonly SharedKey[]): Env => ({ TOLLGATE_CONTEXT_SECRETS: formatSecrets(secrets) });

function ofSecrets(): Rotation {
  const { secrets: old } = rotateSecrets([]);
  const { secrets: both } = rotateSecrets(old);
  const { secrets: turned } = rotateSecrets(both);
  const { secrets: next } = rotateSecrets(turned);
  return {
    signOld: signSecrets(old),
    believeBoth: believeSecrets(both),
    signNext: signSecrets(turned),
    believeNext: believeSecrets(next),
  };
}

/** From what an instance of an earlier version has, which also is what its programs go on with during a rolling upgrade. */
function toSecrets({ signOld, believeBoth }: Rotation): Rotation {
  const { secrets } = rotateSecrets([]);
  const { TOLLGATE_CONTEXT_KEYS = '' } = believeSecrets(secrets);
  return {
    signOld,
    believeBoth: { ...believeBoth, TOLLGATE_CONTEXT_KEYS },
    // The pair goes on signing for upstreams that verify with it.
    signNext: { ...signOld, ...signSecrets(secrets) },
    believeNext: { TOLLGATE_CONTEXT_KEYS },
  };
}

/** What a plugin server with this environment signs. */
const proofBy = (env: Env): string => signingSettings.parse(env).sign(contextFor('api-vahaan'), 'hs256');
/** Whether a service with this environment believes it. */
const isBelieved = (env: Env, proof: string): boolean =>
  verifyContext(proof, proofSettings.parse(env), { products: ['api-vahaan'], nowSeconds: 0 }).ok;

it.each([
  ['of pairs', ofPairs()],
  ['that are shared', ofSharedKeys()],
  ['that are shared, for a pair', toPairs()],
  ['of one product, that a secret gives', ofSecrets()],
  ['of a pair, for those of products', toSecrets(ofPairs())],
])('keys %s are rotated without one refused proof, in the order services, plugin servers, services', (_kind, rotation) => {
  const [old, next] = [proofBy(rotation.signOld), proofBy(rotation.signNext)];
  expect([isBelieved(rotation.believeBoth, old), isBelieved(rotation.believeBoth, next)]).toEqual([true, true]);
  expect(isBelieved(rotation.believeNext, next)).toBe(true);
  // The order matters, and an old key is worth nothing any more.
  expect(isBelieved(rotation.believeNext, old)).toBe(false);
});
