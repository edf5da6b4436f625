import { parseProperties } from '../local/config/kong-conf';

/** A list property that needs one more entry; existing entries stay. */
export interface NeededEntry {
  readonly name: string;
  /** Kong's default for the property; empty if it has none. */
  readonly fallback: string;
  /** Kong passes `nginx_…` to nginx unchanged, so one property may continue with further directives. */
  readonly separator: ',' | ';' | '; include ' | '; access_log ';
  readonly entry: string;
}

interface NeededSetting {
  readonly name: string;
  readonly value: string;
}

export interface NeededConf {
  readonly entries: readonly NeededEntry[];
  readonly settings: readonly NeededSetting[];
}

export interface MergedConf {
  /** The properties that Kong needs, with their existing entries. */
  readonly properties: readonly NeededSetting[];
  /** The whole file with these; every other line stays as it is. */
  readonly text: string;
  /** Settings in the file that differ and stay as they are. */
  readonly kept: readonly NeededSetting[];
}

const ADDED = '# --- Added for Tollgate by npx tollgate gateway kong ---';
/** Values that mean "none" in these lists. */
const NOTHING = new Set(['', 'none', 'off']);

/** @param kongConf the seller's file; empty if Kong runs on its defaults */
export function mergeKongConf(kongConf: string, { entries, settings }: NeededConf): MergedConf {
  const given = parseProperties(kongConf, []);
  // With `off`, nginx writes no log there; another line would not change that.
  const isOff = ({ name, separator }: NeededEntry): boolean => separator === '; access_log ' && given.get(name) === 'off';
  const lists = entries
    .filter((entry) => !isOff(entry))
    .map((entry) => ({ name: entry.name, value: extend(given.get(entry.name) ?? entry.fallback, entry) }));
  const isFree = ({ name }: NeededSetting): boolean => (given.get(name) ?? '') === '';
  const properties = [...lists, ...settings.filter(isFree)];
  const changed = properties.filter(({ name, value }) => given.get(name) !== value);
  const lines = kongConf === '' ? [] : kongConf.replace(/\n$/, '').split('\n');
  const added = changed.filter((property) => !replaceLast(lines, property));
  const block = added.length === 0 ? [] : ['', ADDED, ...added.map(({ name, value }) => `${name} = ${value}`)];
  return {
    properties,
    text: `${[...lines, ...block].join('\n')}\n`,
    kept: [
      ...settings.filter(({ name, value }) => (given.get(name) ?? value) !== value && given.get(name) !== ''),
      ...entries.filter(isOff).map(({ name, entry }) => ({ name, value: entry })),
    ],
  };
}

function extend(value: string, { separator, entry }: NeededEntry): string {
  const there = NOTHING.has(value) ? '' : value;
  if (there.split(separator).some((each) => each.trim() === entry)) return there;
  if (there === '') return entry;
  return separator === ';' ? `${entry};${there}` : there + separator + entry;
}

/**
 * Kong uses a property's last line.
 * @returns whether there is one
 */
function replaceLast(lines: string[], { name, value }: NeededSetting): boolean {
  const at = lines.findLastIndex((line) => line.trimStart().startsWith(name) && /^\s*=/.test(line.trimStart().slice(name.length)));
  if (at < 0) return false;
  // A file from Windows has a carriage return at the end of each line.
  const comment = /(?:\s+#.*?)?\r?$/.exec(lines[at] ?? '')?.[0] ?? '';
  lines[at] = `${name} = ${value}${comment}`;
  return true;
}
