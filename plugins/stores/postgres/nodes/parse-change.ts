import { type Change } from '../../cache/change-feed';

/** Reads a payload of the triggers in migrations 0001, 0004 and 0005. What cannot be read could have been about anything. */
export function parseChange(payload: string | undefined): Change {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload ?? '');
  } catch {
    return { kind: 'everything' };
  }
  if (typeof parsed !== 'object' || parsed === null) return { kind: 'everything' };
  if ('credential' in parsed && typeof parsed.credential === 'string') {
    const at = 'at' in parsed && typeof parsed.at === 'string' ? { at: parsed.at } : {};
    return { kind: 'credential', id: parsed.credential, ...at };
  }
  if ('customer' in parsed && typeof parsed.customer === 'string') return { kind: 'customer', id: parsed.customer };
  // Plans and products: their limits may be in any record, and they change once a release.
  return { kind: 'everything' };
}
