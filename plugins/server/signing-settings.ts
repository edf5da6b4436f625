import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createJwtSigner } from '../core/proof/context-jwt';
import { parsePrivateKey, parseSharedKeys, sharedContextKey, type ContextKey } from '../core/proof/context-keys';
import { type ContextSigner } from '../core/proof/context-token';
import { createProductSigner, derivePrivateKey } from '../core/proof/product-keys';

/** Turns a parser's error into the setting's problem. */
function parsed<Value>(parse: (text: string) => Value): z.ZodType<Value> {
  return z.string().transform((text, context) => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' });
      return z.NEVER;
    }
  });
}

/**
 * @param value a JSON Web Key, or the path of a file that holds one
 * @throws Error naming what is wrong, never the key or the path
 */
export function readPrivateKey(value: string): ContextKey {
  if (value.trimStart().startsWith('{')) return parsePrivateKey(value);
  try {
    return parsePrivateKey(readFileSync(value, 'utf8'));
  } catch (cause) {
    if (!hasCode(cause)) throw cause;
    throw new Error('is neither a JSON Web Key nor the path of a readable file', { cause });
  }
}

/** True for errors of the file system. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

/** How proofs are signed. */
export interface ContextSigning {
  readonly sign: ContextSigner;
  /** Text for the log. */
  readonly description: string;
}

/**
 * Reads the keys that sign proofs. For products with `proof: hs256`, it is the product's own key, derived from the first secret. For all
 * others, and for all products if there is no secret, it is the private key; without one, the first shared key as HS256; without that, the
 * key derived from the secret.
 */
export const signingSettings = z
  .object({
    TOLLGATE_CONTEXT_SECRETS: parsed(parseSharedKeys).optional(),
    TOLLGATE_CONTEXT_PRIVATE_KEY: parsed(readPrivateKey).optional(),
    TOLLGATE_SIGNING_KEYS: parsed(parseSharedKeys).optional(),
  })
  .transform((values, context): ContextSigning => {
    const { TOLLGATE_CONTEXT_PRIVATE_KEY: own, TOLLGATE_SIGNING_KEYS: [shared] = [], TOLLGATE_CONTEXT_SECRETS: [secret] = [] } = values;
    const key = own ?? (shared && sharedContextKey(shared)) ?? (secret && derivePrivateKey(secret));
    if (!key) {
      context.addIssue({ code: 'custom', path: ['TOLLGATE_CONTEXT_SECRETS'], message: 'is required and not set' });
      return z.NEVER;
    }
    const sign = createJwtSigner(key);
    const description = `${key.algorithm}, key ${key.id}`;
    if (!secret) return { sign, description };
    const signForProduct = createProductSigner(secret);
    return {
      sign: (request, proof) => (proof === 'hs256' ? signForProduct(request) : sign(request)),
      description: `HS256 by product, generation ${secret.id}; ${description}`,
    };
  });
