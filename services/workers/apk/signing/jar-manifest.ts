import { MalformedError } from '../apk-error';

/** One section of a JAR manifest or signature file. */
export interface JarSection {
  /** Undefined for the main section. */
  readonly name: string | undefined;
  /** Attributes by lower-case name. */
  readonly attributes: ReadonlyMap<string, string>;
  /** The bytes of the section, including the empty line that ends it. Signature files hold digests of these bytes. */
  readonly bytes: Buffer;
}

const MAX_SECTIONS = 70_000;

/** Splits a manifest into its main section and the others. @throws MalformedError */
export function parseJarManifest(bytes: Buffer): { main: JarSection; sections: JarSection[] } {
  const sections: JarSection[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = sectionEnd(bytes, at);
    const section = parseSection(bytes.subarray(at, end));
    if (section.attributes.size > 0 || sections.length === 0) sections.push(section);
    if (sections.length > MAX_SECTIONS) throw new MalformedError('a signature file has too many sections');
    at = end;
  }
  const [main, ...others] = sections;
  if (!main) throw new MalformedError('a signature file is empty');
  return { main, sections: others };
}

/** Offset after the first empty line at or after `from`. Lines end with CR LF, LF or CR. */
function sectionEnd(bytes: Buffer, from: number): number {
  let at = from;
  let lineStart = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte !== 0x0d && byte !== 0x0a) {
      at++;
      continue;
    }
    const isEmpty = at === lineStart;
    at += byte === 0x0d && bytes[at + 1] === 0x0a ? 2 : 1;
    lineStart = at;
    if (isEmpty) break;
  }
  return at;
}

function parseSection(bytes: Buffer): JarSection {
  const attributes = new Map<string, string>();
  for (const line of unfold(bytes)) {
    const colon = line.indexOf(': ');
    if (colon <= 0) throw new MalformedError('a signature file has a malformed line');
    attributes.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 2));
  }
  return { name: attributes.get('name'), attributes, bytes };
}

/** Joins continuation lines as bytes, because a line may break within a character. */
function unfold(bytes: Buffer): string[] {
  const text = bytes.toString('latin1').replace(/(\r\n|\n|\r) /g, '');
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== '');
  return lines.map((line) => Buffer.from(line, 'latin1').toString('utf8'));
}

/** Digest names in manifests, strongest first, with their names in node:crypto. */
const DIGESTS = [
  ['sha-512', 'sha512'],
  ['sha-384', 'sha384'],
  ['sha-256', 'sha256'],
  ['sha1', 'sha1'],
  ['sha-1', 'sha1'],
  ['md5', 'md5'],
] as const;

export type DigestName = (typeof DIGESTS)[number][1];

export interface JarDigest {
  readonly hash: DigestName;
  readonly expected: Buffer;
}

/** The strongest `<algorithm>-Digest<suffix>` of a section. */
export function strongestDigest({ attributes }: JarSection, suffix = ''): JarDigest | undefined {
  for (const [name, hash] of DIGESTS) {
    const value = attributes.get(`${name}-digest${suffix}`);
    if (value !== undefined) return { hash, expected: Buffer.from(value, 'base64') };
  }
  return undefined;
}
