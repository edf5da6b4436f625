import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSharedKeys } from '../../plugins/core/proof/context-keys';
import { type KeySet, keySetOf } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets } from '../../plugins/core/proof/product-keys';
import { readPrivateKey } from '../../plugins/server/signing-settings';
import { keepSecret } from './secrets';
import { type StartSettings } from './start-settings';

/** The keys with which the plugin server signs proofs and services verify them. */
export interface ProofKeys {
  /** `generation:base64,…`, for the plugin server alone. */
  readonly secrets: string;
  /** A JSON Web Key, or the path of one, for the plugin server alone. Undefined: the key is derived from the secret. */
  readonly privateKey: string | undefined;
  /** A JSON Web Key Set of secrets: the keys of the products. Undefined while nothing is sold, because a set without keys is refused. */
  readonly productKeys: string | undefined;
  /** A JSON Web Key Set, or the path of one. */
  readonly keySet: string;
  /** `id:base64,…`; undefined unless the platform engineer sets them. */
  readonly sharedKeys: string | undefined;
}

const folderOf = (dataDir: string): string => join(dataDir, 'context-keys');

/** @param dataDir the data folder */
export const secretsFile = (dataDir: string): string => join(folderOf(dataDir), 'secrets');

/** The public keys of an instance, for upstreams. @param dataDir the data folder */
export const keySetFile = (dataDir: string): string => join(folderOf(dataDir), 'jwks.json');

/**
 * The platform engineer's keys, or a secret that is created once and kept in the data folder. Instances of earlier versions have a private
 * key there, which still signs for their upstreams.
 * @param products ids of the whole catalogue, because a product's form may change while services run
 * @throws Error when a stored key cannot be read
 */
export function keepProofKeys(dataDir: string, { proof }: StartSettings, products: readonly string[]): ProofKeys {
  const { sharedKeys } = proof;
  mkdirSync(folderOf(dataDir), { recursive: true, mode: 0o700 });
  const secrets = proof.secrets ?? keepSecret(secretsFile(dataDir), () => formatSecrets(rotateSecrets([]).secrets));
  const generations = parseSharedKeys(secrets);
  const derived = products.flatMap((product) => generations.map((secret) => deriveProductKey(secret, product)));
  const productKeys = derived.length > 0 ? text(keySetOf(...derived)) : undefined;
  const keys = { secrets, productKeys, sharedKeys };
  if (proof.privateKey !== undefined) {
    const keySet = proof.keySet ?? text(keySetOf(readPrivateKey(proof.privateKey)));
    return { ...keys, privateKey: proof.privateKey, keySet };
  }
  const kept = join(folderOf(dataDir), 'private.json');
  const privateKey = existsSync(kept) ? kept : undefined;
  const publicKeys = privateKey === undefined ? generations.map(derivePrivateKey) : [readPrivateKey(privateKey)];
  writeFileSync(keySetFile(dataDir), `${text(keySetOf(...publicKeys))}\n`, { mode: 0o600 });
  return { ...keys, privateKey, keySet: keySetFile(dataDir) };
}

function text(keySet: KeySet): string {
  return JSON.stringify(keySet);
}
