import { type KeyMode } from '../../../plugins/core/ports';

/** The name of a source in responses. Data that the sandbox made up for a test key must not look like data of a real source. */
export function sourceName(source: string, mode: KeyMode): string {
  return mode === 'test' ? `sandbox_${source}` : source;
}
