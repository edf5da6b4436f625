import { LIMITS } from '../limits';
import { type PermissionFacts, type ProtectionLevel } from '../report';
import { type XmlElement } from '../resources/binary-xml';
import { ATTRIBUTE, type AttributeReader, childrenNamed } from './attributes';
import platform from './platform-permissions.json';

const BASE_MASK = 0x0f;
const FLAG_APPOP = 0x40;

/** PermissionInfo.protectionLevel: the base in the low four bits, flags above. */
function protectionOf(level: number): ProtectionLevel {
  switch (level & BASE_MASK) {
    case 0:
      return 'normal';
    case 1:
      return 'dangerous';
    case 2:
    case 3:
      return level & FLAG_APPOP ? 'special' : 'signature';
    case 4:
      return 'internal';
    default:
      return 'unknown';
  }
}

/** Requested permissions in the manifest's order, followed by those that the app declares but does not request. */
export function readPermissions(manifest: XmlElement, attributes: AttributeReader): PermissionFacts[] {
  const declared = new Map<string, ProtectionLevel>();
  for (const element of childrenNamed(manifest, 'permission')) {
    const name = attributes.text(element, ATTRIBUTE.name);
    if (name !== undefined) declared.set(name, protectionOf(attributes.integer(element, ATTRIBUTE.protectionLevel) ?? 0));
  }
  const listed = new Map<string, PermissionFacts>();
  for (const element of childrenNamed(manifest, 'uses-permission', 'uses-permission-sdk-23', 'uses-permission-sdk-m')) {
    const name = attributes.text(element, ATTRIBUTE.name);
    if (name === undefined) continue;
    const maxSdk = attributes.integer(element, ATTRIBUTE.maxSdkVersion) ?? null;
    const before = listed.get(name);
    // When a permission is requested twice, the wider request counts.
    const widest = before ? (before.max_sdk === null || maxSdk === null ? null : Math.max(before.max_sdk, maxSdk)) : maxSdk;
    listed.set(name, {
      name,
      protection: declared.get(name) ?? platformProtection(name),
      max_sdk: widest,
      declared_by_app: declared.has(name),
      requested: true,
    });
  }
  for (const [name, protection] of declared) {
    if (!listed.has(name)) listed.set(name, { name, protection, max_sdk: null, declared_by_app: true, requested: false });
  }
  if (listed.size > LIMITS.listed) attributes.note(`only ${LIMITS.listed} of ${listed.size} permissions are listed`);
  return [...listed.values()].slice(0, LIMITS.listed);
}

const LEVELS: ReadonlyMap<string, ProtectionLevel> = new Map(
  (['dangerous', 'special', 'normal', 'signature'] as const).flatMap((level) =>
    platform.levels[level].map((name) => [name, level] as const),
  ),
);

/** The protection level of a platform permission; `unknown` for permissions of other apps and of newer platforms. */
export function platformProtection(name: string): ProtectionLevel {
  const known = LEVELS.get(name);
  if (known !== undefined) return known;
  return platform.dangerousPrefixes.some((prefix) => name.startsWith(prefix)) ? 'dangerous' : 'unknown';
}
