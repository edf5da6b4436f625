import { ApkRefused, MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import type { ConfiguredValue, Resources } from '../resources/resources';
import { numberOf, protoFields, type Span, spanOf, textAt } from './proto-fields';
import { readItem } from './proto-item';

/** Fields of the messages in frameworks/base tools/aapt2/Resources.proto and Configuration.proto. */
const TABLE = { package: 2 } as const;
const PACKAGE = { id: 1, type: 3 } as const;
const TYPE = { id: 1, entry: 3 } as const;
const ENTRY = { id: 1, configValue: 6 } as const;
const CONFIG_VALUE = { config: 1, value: 2 } as const;
const VALUE_ITEM = 4;
const CONFIG_LOCALE = 3;

/** All entries of one type by number. Read on first use. */
type EntryIndex = Map<number, Span>;

/** The resources of a bundle's module (resources.pb, an aapt.pb.ResourceTable). Values are looked up in the bytes on demand. */
export class ProtoResourceTable implements Resources {
  private readonly reader: ByteReader;
  /** Resources by package and type, keyed like the upper half of a resource id. */
  private readonly types = new Map<number, Span[]>();
  private readonly indexes = new Map<number, EntryIndex>();
  private readonly read = new Map<number, ConfiguredValue[]>();
  private typeCount = 0;
  private entryCount = 0;
  private lookups = 0;

  /** @throws MalformedError */
  constructor(bytes: Buffer) {
    this.reader = new ByteReader(bytes, 'resources.pb');
    for (const field of protoFields(this.reader, this.whole())) {
      if (field.number === TABLE.package && field.isSpan) this.addPackage(field);
    }
  }

  private whole(): Span {
    return { start: 0, end: this.reader.length };
  }

  private addPackage(span: Span): void {
    const packageId = this.idIn(span, PACKAGE.id) & 0xff;
    for (const field of protoFields(this.reader, span)) {
      if (field.number !== PACKAGE.type || !field.isSpan) continue;
      if (++this.typeCount > LIMITS.resourceTypeChunks) throw new MalformedError('resources.pb: has too many types');
      const key = packageId * 0x100 + (this.idIn(field, TYPE.id) & 0xff);
      const known = this.types.get(key);
      if (known) known.push(field);
      else this.types.set(key, [field]);
    }
  }

  /** Reads an id, which is a message whose first field is the number. */
  private idIn(message: Span, field: number): number {
    const id = spanOf(this.reader, message, field);
    return id ? numberOf(this.reader, id, 1) : 0;
  }

  /** @throws MalformedError; ApkRefused `apk_too_complex` when all look-ups together took too much work */
  valuesOf(resourceId: number): ConfiguredValue[] {
    const values = this.read.get(resourceId) ?? this.readValues(resourceId);
    this.read.set(resourceId, values);
    this.spend(values.length + 1);
    return values;
  }

  /** Reads the values of a resource once. Repeated look-ups also count against the limit. */
  private readValues(resourceId: number): ConfiguredValue[] {
    const entry = this.indexOf(resourceId >>> 16).get(resourceId & 0xffff);
    if (!entry) return [];
    const values: ConfiguredValue[] = [];
    for (const field of protoFields(this.reader, entry)) {
      if (field.number !== ENTRY.configValue || !field.isSpan) continue;
      this.spend(1);
      const value = this.configured(field);
      if (value) values.push(value);
    }
    return values;
  }

  private spend(lookups: number): void {
    this.lookups += lookups;
    if (this.lookups > LIMITS.configurationLookups)
      throw new ApkRefused('apk_too_complex', 'The references of the app lead to too many configurations.');
  }

  private indexOf(key: number): EntryIndex {
    const known = this.indexes.get(key);
    if (known) return known;
    const index: EntryIndex = new Map();
    for (const type of this.types.get(key) ?? []) {
      for (const field of protoFields(this.reader, type)) {
        if (field.number !== TYPE.entry || !field.isSpan) continue;
        if (++this.entryCount > LIMITS.resourceEntries)
          throw new ApkRefused('apk_too_complex', 'The references of the app lead to too many resources.');
        const id = this.idIn(field, ENTRY.id) & 0xffff;
        if (!index.has(id)) index.set(id, field);
      }
    }
    this.indexes.set(key, index);
    return index;
  }

  /** Only simple values are used. Styles, plurals and arrays have no item. */
  private configured(span: Span): ConfiguredValue | undefined {
    const value = spanOf(this.reader, span, CONFIG_VALUE.value);
    const item = value && spanOf(this.reader, value, VALUE_ITEM);
    const read = item && readItem(this.reader, item);
    if (!read) return undefined;
    const config = spanOf(this.reader, span, CONFIG_VALUE.config);
    return { ...this.configuration(config), value: read };
  }

  private configuration(config: Span | undefined): { locale: string; isPlain: boolean } {
    let [locale, isPlain] = ['', true];
    for (const field of config ? protoFields(this.reader, config) : []) {
      if (field.number === CONFIG_LOCALE && field.isSpan) locale = textAt(this.reader, field, LIMITS.localeLength);
      else if (field.isSpan ? field.end > field.start : field.value !== 0) isPlain = false;
    }
    return { locale, isPlain };
  }

  /** All texts of the table, for scanning. */
  *strings(): Generator<string> {
    for (const types of this.types.values()) {
      for (const type of types) {
        for (const entry of protoFields(this.reader, type)) {
          if (entry.number === TYPE.entry && entry.isSpan) yield* this.stringsOfEntry(entry);
        }
      }
    }
  }

  private *stringsOfEntry(entry: Span): Generator<string> {
    for (const field of protoFields(this.reader, entry)) {
      if (field.number !== ENTRY.configValue || !field.isSpan) continue;
      const value = spanOf(this.reader, field, CONFIG_VALUE.value);
      if (value) yield* stringsIn(this.reader, value);
    }
  }
}

/**
 * Field numbers in aapt.pb.Value and in the compound values that hold texts: the field of their elements, and the field of the item in each
 * element.
 */
const VALUE = { item: 4, compound: 5 } as const;
const COMPOUNDS: ReadonlyMap<number, { readonly element: number; readonly item: number }> = new Map([
  // Style, Array and Plural.
  [2, { element: 3, item: 4 }],
  [4, { element: 1, item: 3 }],
  [5, { element: 1, item: 4 }],
]);

/** All texts of an aapt.pb.Value. */
function* stringsIn(reader: ByteReader, value: Span): Generator<string> {
  for (const field of protoFields(reader, value)) {
    if (!field.isSpan) continue;
    if (field.number === VALUE.item) yield* textOfItem(reader, field);
    else if (field.number === VALUE.compound) yield* stringsOfCompound(reader, field);
  }
}

function* stringsOfCompound(reader: ByteReader, compound: Span): Generator<string> {
  for (const kind of protoFields(reader, compound)) {
    const places = COMPOUNDS.get(kind.number);
    if (!places || !kind.isSpan) continue;
    for (const element of protoFields(reader, kind)) {
      if (element.number !== places.element || !element.isSpan) continue;
      for (const item of protoFields(reader, element)) if (item.number === places.item && item.isSpan) yield* textOfItem(reader, item);
    }
  }
}

function* textOfItem(reader: ByteReader, item: Span): Generator<string> {
  const text = readItem(reader, item)?.text;
  if (text !== undefined) yield text;
}
