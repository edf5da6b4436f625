import { type KeyMode } from '../../../plugins/core/ports';

/** How answers name a source: what the sandbox made up for a test key must not pass for the word of a real provider. */
export function sourceName(source: string, mode: KeyMode): string {
  return mode === 'test' ? `sandbox_${source}` : source;
}
