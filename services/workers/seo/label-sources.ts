import { type KeyMode } from '../../../plugins/core/ports';
import { sourceName } from '../../kit/upstream/source-name';

/** Members of an answer whose text is the name of a source. */
const NAMES: ReadonlySet<string> = new Set(['source', 'engine']);
/** Members of an answer whose members are called by the names of sources. */
const BY_NAME: ReadonlySet<string> = new Set(['ranks']);

function labelMember(name: string, value: unknown, mode: KeyMode): unknown {
  if (NAMES.has(name) && typeof value === 'string') return sourceName(value, mode);
  if (!BY_NAME.has(name) || typeof value !== 'object' || value === null) return labelSources(value, mode);
  return Object.fromEntries(Object.entries(value).map(([source, each]) => [sourceName(source, mode), each as unknown]));
}

/** The data of an answer with every source named as its caller may know it: for a test key that of the sandbox. */
export function labelSources(data: unknown, mode: KeyMode): unknown {
  if (Array.isArray(data)) return data.map((each) => labelSources(each, mode));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, labelMember(name, value, mode)]));
}
