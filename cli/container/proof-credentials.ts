import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseSharedKeys, type SharedKey } from '../../plugins/core/proof/context-keys';
import { CONTEXT_LIFETIME_SECONDS } from '../../plugins/core/proof/context-token';
import { keySetOf } from '../../plugins/core/proof/create-context-key';
import { derivePrivateKey, deriveProductKey, formatSecrets, rotateSecrets, type RotationStep } from '../../plugins/core/proof/product-keys';
import { SERVICES } from '../../services/products/registry';
import { Memory, type Variables, write, writeVariables } from './credential-files';

type Environment = Readonly<Record<string, string | undefined>>;

const SECRETS = 'TOLLGATE_CONTEXT_SECRETS';
/** The file of secrets among this program's own files. */
const SECRETS_FILE = 'context-secrets';

/** The service without products. It gives requests back for the seller's own APIs, whose proofs the public key set verifies. */
export const NO_SERVICE = 'none';

/** @throws Error naming the mistake, never a secret */
function readGenerations(memory: Memory, env: Environment): readonly SharedKey[] {
  const said = env[SECRETS];
  try {
    return parseSharedKeys(said || memory.keep(SECRETS_FILE, () => formatSecrets(rotateSecrets([]).secrets)));
  } catch (cause) {
    throw new Error(`${SECRETS}: ${cause instanceof Error ? cause.message : 'cannot be read'}`, { cause });
  }
}

/** Keys for signing and verifying proofs, by holder: the secret for the plugin server, and the keys of its products for each service. */
export function proofVariables(memory: Memory, env: Environment): Readonly<Record<string, Variables>> {
  const generations = readGenerations(memory, env);
  const TOLLGATE_CONTEXT_JWKS = JSON.stringify(keySetOf(...generations.map(derivePrivateKey)));
  const services = Object.values(SERVICES).map(({ name, products }) => {
    const keys = products.flatMap((product) => generations.map((secret) => deriveProductKey(secret, product)));
    return [`service-${name}`, { TOLLGATE_CONTEXT_KEYS: JSON.stringify(keySetOf(...keys)), TOLLGATE_CONTEXT_JWKS }] as const;
  });
  return {
    plugin: { [SECRETS]: formatSecrets(generations) },
    cli: { TOLLGATE_CONTEXT_JWKS },
    [`service-${NO_SERVICE}`]: { TOLLGATE_CONTEXT_JWKS },
    ...Object.fromEntries(services),
  };
}

/**
 * Takes the next of the three steps that replace the secret of proofs: services accept the next generation; the plugin server signs with
 * it; the former generation ends.
 * @returns the step
 * @throws Error, readable, when the last step comes less than a proof's lifetime after the one before, or this program did not create the
 * secret
 */
export function rotateProofs({ folder, env }: { readonly folder: string; readonly env: Environment }): RotationStep {
  if (env[SECRETS]) throw new Error(`${SECRETS} is set: rotate it with tollgate signing-key rotate`);
  const memory = new Memory(join(folder, 'own'));
  const { step, secrets } = rotateSecrets(readGenerations(memory, env));
  const file = join(folder, 'own', SECRETS_FILE);
  const ageSeconds = (Date.now() - statSync(file).mtimeMs) / 1000;
  if (step === 'end' && ageSeconds < CONTEXT_LIFETIME_SECONDS) {
    throw new Error(`proofs of the former secret are still valid: try again in ${Math.ceil(CONTEXT_LIFETIME_SECONDS - ageSeconds)} s`);
  }
  write(file, formatSecrets(secrets));
  for (const [holder, variables] of Object.entries(proofVariables(memory, env))) writeVariables(folder, holder, variables);
  return step;
}
