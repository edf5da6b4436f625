import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createContextKey, keySetOf } from '../../plugins/core/proof/create-context-key';
import { readPrivateKey } from '../../plugins/server/signing-settings';
import { keepSecret } from './secrets';
import { type StartSettings } from './start-settings';

/** What the plugin server signs proofs with, and what services verify them with. */
export interface ProofKeys {
  /** For the plugin server alone: a JSON Web Key, or the path of one. */
  readonly privateKey: string;
  /** A JSON Web Key Set, or the path of one. */
  readonly keySet: string;
  /** `id:base64,…`; undefined unless an operator sets them. */
  readonly sharedKeys: string | undefined;
}

/**
 * Keys as an operator gives them, else a pair that is made once and lies in the data folder.
 * @throws Error when a kept key cannot be read
 */
export function keepProofKeys(dataDir: string, { proof }: StartSettings): ProofKeys {
  const { sharedKeys } = proof;
  if (proof.privateKey !== undefined) {
    const keySet = proof.keySet ?? JSON.stringify(keySetOf(readPrivateKey(proof.privateKey)));
    return { privateKey: proof.privateKey, keySet, sharedKeys };
  }
  const folder = join(dataDir, 'context-keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const privateKey = join(folder, 'private.json');
  const keySet = join(folder, 'jwks.json');
  keepSecret(privateKey, () => createContextKey('EdDSA').privateKey);
  keepSecret(keySet, () => JSON.stringify(keySetOf(readPrivateKey(privateKey))));
  return { privateKey, keySet, sharedKeys };
}
