import { type ProtectionLevel } from '../report';
import platform from './platform-permissions.json';

const LEVELS: ReadonlyMap<string, ProtectionLevel> = new Map(
  (['dangerous', 'special', 'normal', 'signature'] as const).flatMap((level) =>
    platform.levels[level].map((name) => [name, level] as const),
  ),
);

/** The protection level of a permission of the platform; `unknown` for those of other apps and of newer platforms. */
export function platformProtection(name: string): ProtectionLevel {
  const known = LEVELS.get(name);
  if (known !== undefined) return known;
  return platform.dangerousPrefixes.some((prefix) => name.startsWith(prefix)) ? 'dangerous' : 'unknown';
}
