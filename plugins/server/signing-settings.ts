import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createJwtSigner } from '../core/proof/context-jwt';
import { parsePrivateKey, parseSharedKeys, sharedContextKey, type ContextKey } from '../core/proof/context-keys';
import { type ContextSigner } from '../core/proof/context-token';
import { createV1Signer } from '../core/proof/context-v1';

/** What a parser throws becomes the setting's problem. */
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
    throw new Error('is neither a JSON Web Key nor the path of a file that can be read', { cause });
  }
}

/** True for errors of the file system. */
function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

/** How proofs are signed. */
export interface ContextSigning {
  readonly sign: ContextSigner;
  /** For the log. */
  readonly description: string;
}

/**
 * Reads what proofs are signed with. Without a private key JSON Web Tokens are signed with the first shared key, HS256: so starts, with the
 * settings that it has, an installation of the time before.
 */
export const signingSettings = z
  .object({
    TOLLGATE_CONTEXT_FORMAT: z.enum(['jwt', 'v1'], { error: 'must be jwt or v1' }).default('jwt'),
    TOLLGATE_CONTEXT_PRIVATE_KEY: parsed(readPrivateKey).optional(),
    TOLLGATE_SIGNING_KEYS: parsed(parseSharedKeys).optional(),
  })
  .transform((values, context): ContextSigning => {
    const { TOLLGATE_CONTEXT_PRIVATE_KEY: own, TOLLGATE_SIGNING_KEYS: [shared] = [] } = values;
    const lacks = (name: string): never => {
      context.addIssue({ code: 'custom', path: [name], message: 'is required' });
      return z.NEVER;
    };
    if (values.TOLLGATE_CONTEXT_FORMAT === 'v1') {
      return shared ? { sign: createV1Signer(shared), description: `v1, key ${shared.id}` } : lacks('TOLLGATE_SIGNING_KEYS');
    }
    const key = own ?? (shared && sharedContextKey(shared));
    return key ? { sign: createJwtSigner(key), description: `${key.algorithm}, key ${key.id}` } : lacks('TOLLGATE_CONTEXT_PRIVATE_KEY');
  });
