import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseKeySet, parseProductKeys, parseSharedKeys, type ContextKey } from '../../../plugins/core/proof/context-keys';
import { createContextKeys, type ContextKeys } from '../../../plugins/core/proof/verify-context';

/**
 * @param value a JSON Web Key Set, or the path of a file that holds one. An empty file counts as none, so that a compose file may name
 * `/dev/null` for an unused setting.
 * @throws Error naming what is wrong, never a key or the path
 */
export function readKeySet(value: string, parse: (text: string) => ContextKey[] = parseKeySet): ContextKey[] {
  if (value.trimStart().startsWith('{')) return parse(value);
  let text: string;
  try {
    text = readFileSync(value, 'utf8');
  } catch (cause) {
    throw new Error('is neither a JSON Web Key Set nor the path of a readable file', { cause });
  }
  return text.trim() === '' ? [] : parse(text);
}

/**
 * The keys for verifying proofs: the keys of its products, the public key set of plugin servers (each as JSON or as the path of a file),
 * and the shared keys if there are any. Read once, at start.
 */
export const proofSettings = z
  .object({
    TOLLGATE_CONTEXT_KEYS: z.string().optional(),
    TOLLGATE_CONTEXT_JWKS: z.string().optional(),
    TOLLGATE_SIGNING_KEYS: z.string().optional(),
  })
  .transform(({ TOLLGATE_CONTEXT_KEYS: own, TOLLGATE_CONTEXT_JWKS: jwks, TOLLGATE_SIGNING_KEYS: shared }, context): ContextKeys => {
    const complain = (name: string, message: string): never => {
      context.addIssue({ code: 'custom', path: [name], message });
      return z.NEVER;
    };
    const read = <Key>(name: string, text: string | undefined, parse: (text: string) => Key[]): Key[] | undefined => {
      try {
        return text === undefined ? [] : parse(text);
      } catch (error) {
        complain(name, error instanceof Error ? error.message : 'cannot be read');
        return undefined;
      }
    };
    const productKeys = read('TOLLGATE_CONTEXT_KEYS', own, (text) => readKeySet(text, parseProductKeys));
    const keySet = read('TOLLGATE_CONTEXT_JWKS', jwks, (text) => readKeySet(text));
    const sharedKeys = read('TOLLGATE_SIGNING_KEYS', shared, parseSharedKeys);
    if (!productKeys || !keySet || !sharedKeys) return z.NEVER;
    if (productKeys.length + keySet.length + sharedKeys.length === 0) return complain('TOLLGATE_CONTEXT_KEYS', 'is required and not set');
    try {
      return createContextKeys([...productKeys, ...keySet], sharedKeys);
    } catch {
      return complain('TOLLGATE_SIGNING_KEYS', 'has a key with the id of one in TOLLGATE_CONTEXT_JWKS');
    }
  });
