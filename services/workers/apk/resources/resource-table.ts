import { ApkRefused, MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { CHUNK, type Chunk, chunksBetween, readChunk } from './chunk';
import { type ConfiguredValue, type Resources, isReference, type ResourceValue, VALUE } from './resources';
import { StringPool } from './string-pool';

/** A resources.arsc. Values are looked up by resource id in the bytes on demand. */
export class ResourceTable implements Resources {
  private readonly reader: ByteReader;
  private pool: StringPool | undefined;
  /** Chunks by package id and type id. */
  private readonly types = new Map<number, TypeChunk[]>();
  private typeChunks = 0;
  private lookups = 0;

  /** @throws MalformedError */
  constructor(bytes: Buffer) {
    this.reader = new ByteReader(bytes, 'resources.arsc');
    const table = readChunk(this.reader, 0, this.reader.length);
    if (table.type !== CHUNK.table) throw new MalformedError('resources.arsc: is not a resource table');
    for (const chunk of chunksBetween(this.reader, table.headerSize, table.size)) {
      if (chunk.type === CHUNK.stringPool) this.pool ??= new StringPool(this.reader, chunk);
      else if (chunk.type === CHUNK.package) this.addPackage(chunk);
    }
  }

  private addPackage(chunk: Chunk): void {
    const packageId = this.reader.u32(chunk.at + 8) & 0xff;
    for (const inner of chunksBetween(this.reader, chunk.at + chunk.headerSize, chunk.at + chunk.size)) {
      if (inner.type !== CHUNK.type) continue;
      if (++this.typeChunks > LIMITS.resourceTypeChunks) throw new MalformedError('resources.arsc: has too many configurations');
      const type = readTypeChunk(this.reader, inner);
      const key = packageId * 0x100 + type.typeId;
      const known = this.types.get(key);
      if (known) known.push(type);
      else this.types.set(key, [type]);
    }
  }

  /**
   * All values of a resource. References are not followed. Empty for ids of other packages, such as the platform's.
   * @throws MalformedError; ApkRefused `apk_too_complex` when all look-ups together took too much work
   */
  valuesOf(resourceId: number): ConfiguredValue[] {
    const found: ConfiguredValue[] = [];
    const types = this.types.get(resourceId >>> 16) ?? [];
    this.lookups += types.length;
    if (this.lookups > LIMITS.configurationLookups)
      throw new ApkRefused('apk_too_complex', 'The references of the app lead to too many configurations.');
    for (const type of types) {
      const value = entryIn(this.reader, type, resourceId & 0xffff);
      if (!value) continue;
      const text = value.type === VALUE.string ? this.pool?.at(value.data) : undefined;
      found.push({ locale: type.locale, isPlain: type.isPlain, value: { ...value, text } });
    }
    return found;
  }

  /** All texts of the table, for scanning. */
  *strings(): Generator<string> {
    if (this.pool) yield* this.pool.all();
  }
}

/**
 * Follows references to the value of the default configuration.
 * @returns undefined when a reference leads nowhere, outside the table, or in a circle
 */
export function resolveValue(table: Resources | undefined, value: ResourceValue): ResourceValue | undefined {
  let current: ResourceValue | undefined = value;
  for (let hops = 0; current && isReference(current); hops++) {
    if (hops >= LIMITS.referenceHops) return undefined;
    const values: ConfiguredValue[] = table?.valuesOf(current.data) ?? [];
    current = (values.find((each) => each.isPlain && each.locale === '') ?? values.find((each) => each.locale === '') ?? values[0])?.value;
  }
  return current;
}

const FLAG_SPARSE = 0x01;
const FLAG_OFFSET16 = 0x02;
const ENTRY_COMPLEX = 0x0001;
const ENTRY_COMPACT = 0x0008;
const CONFIG_AT = 20;
const NO_ENTRY = 0xffffffff;

/** The entries of one resource type (string, bool, xml, …) for one device configuration. */
interface TypeChunk {
  readonly typeId: number;
  readonly flags: number;
  readonly entryCount: number;
  /** Absolute offsets. */
  readonly offsetsAt: number;
  readonly entriesAt: number;
  readonly end: number;
  readonly locale: string;
  readonly isPlain: boolean;
}

/** @throws MalformedError */
function readTypeChunk(reader: ByteReader, chunk: Chunk): TypeChunk {
  const configSize = reader.u32(chunk.at + CONFIG_AT);
  if (configSize < 4 || CONFIG_AT + configSize > chunk.headerSize) throw new MalformedError(`${reader.what}: a configuration does not fit`);
  const type = {
    typeId: reader.u8(chunk.at + 8),
    flags: reader.u8(chunk.at + 9),
    entryCount: reader.u32(chunk.at + 12),
    offsetsAt: chunk.at + chunk.headerSize,
    entriesAt: chunk.at + reader.u32(chunk.at + 16),
    end: chunk.at + chunk.size,
    ...readConfig(reader.slice(chunk.at + CONFIG_AT, configSize)),
  };
  if (type.offsetsAt + type.entryCount * (type.flags & FLAG_OFFSET16 ? 2 : 4) > type.end) {
    throw new MalformedError(`${reader.what}: the entries of a type do not fit`);
  }
  return type;
}

/** ResTable_config: size, mcc/mnc, language and country at 8 and 10, script at 36. All other fields restrict the value to some devices. */
function readConfig(config: Buffer): { locale: string; isPlain: boolean } {
  const language = unpackCode(config.subarray(8, 10), 'a');
  const region = unpackCode(config.subarray(10, 12), '0');
  const script = config.length >= 40 && config[36] ? config.toString('latin1', 36, 40) : '';
  const locale = [language, script, region].filter((part) => /^[A-Za-z0-9]+$/.test(part)).join('-');
  const others = [config.subarray(4, 8), config.subarray(12, 36), config.subarray(48)];
  return { locale: language === '' ? '' : locale, isPlain: others.every((part) => part.every((byte) => byte === 0)) };
}

/** Two letters, or three letters of five bits each when the top bit is set. */
function unpackCode(code: Buffer, base: 'a' | '0'): string {
  const [first = 0, second = 0] = code;
  if (first === 0) return '';
  if (!(first & 0x80)) return code.toString('latin1');
  const zero = base.charCodeAt(0);
  const parts = [second & 0x1f, ((second & 0xe0) >> 5) + ((first & 0x03) << 3), (first & 0x7c) >> 2];
  return String.fromCharCode(...parts.map((part) => zero + part));
}

/** Offset of an entry; undefined when this configuration has none. */
function entryOffset(reader: ByteReader, type: TypeChunk, entryId: number): number | undefined {
  if (type.flags & FLAG_SPARSE) return sparseOffset(reader, type, entryId);
  if (entryId >= type.entryCount) return undefined;
  if (type.flags & FLAG_OFFSET16) {
    const offset = reader.u16(type.offsetsAt + entryId * 2);
    return offset === 0xffff ? undefined : offset * 4;
  }
  const offset = reader.u32(type.offsetsAt + entryId * 4);
  return offset === NO_ENTRY ? undefined : offset;
}

/** Pairs of id and offset/4, sorted by id. */
function sparseOffset(reader: ByteReader, type: TypeChunk, entryId: number): number | undefined {
  let low = 0;
  let high = type.entryCount - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const id = reader.u16(type.offsetsAt + middle * 4);
    if (id === entryId) return reader.u16(type.offsetsAt + middle * 4 + 2) * 4;
    if (id < entryId) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** The simple value of an entry; undefined when there is none or it is a bag (styles, plurals, arrays). */
function entryIn(reader: ByteReader, type: TypeChunk, entryId: number): ResourceValue | undefined {
  const offset = entryOffset(reader, type, entryId);
  if (offset === undefined) return undefined;
  const at = type.entriesAt + offset;
  if (at + 8 > type.end) throw new MalformedError(`${reader.what}: an entry lies outside of its type`);
  const flags = reader.u16(at + 2);
  if (flags & ENTRY_COMPACT) return { type: flags >>> 8, data: reader.u32(at + 4) };
  if (flags & ENTRY_COMPLEX) return undefined;
  const valueAt = at + reader.u16(at);
  return { type: reader.u8(valueAt + 3), data: reader.u32(valueAt + 4) };
}
