import { ApkRefused, MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { CHUNK, type Chunk, chunksBetween, readChunk } from './chunk';
import { entryIn, type TypeChunk, readTypeChunk } from './type-chunk';
import { isReference, type ResourceValue, VALUE } from './resource-value';
import { type ConfiguredValue, type Resources } from './resources';
import { StringPool } from './string-pool';

/** A resources.arsc: values by resource id, looked up in the bytes when asked for. */
export class ResourceTable implements Resources {
  private readonly reader: ByteReader;
  private pool: StringPool | undefined;
  /** By package id and type id. */
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
   * Every value of a resource; references are not followed. Empty for ids of other packages, such as the platform's.
   * @throws MalformedError; ApkRefused `apk_too_complex` when all lookups together took too much work
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

  /** All texts of the table, for looking through them. */
  *strings(): Generator<string> {
    if (this.pool) yield* this.pool.all();
  }
}

/**
 * Follows references to the value of the default configuration.
 * @returns undefined when a reference leads nowhere, outside of the table, or in a circle
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
