import { MalformedError } from '../apk-error';
import { ByteReader } from '../bytes/byte-reader';
import { LIMITS } from '../limits';
import { CHUNK, type Chunk, chunksBetween, readChunk } from './chunk';
import { type ResourceValue } from './resources';
import { StringPool } from './string-pool';

export interface XmlAttribute {
  readonly name: string;
  readonly namespace: string | undefined;
  /** The attribute's public resource id, 0 when it has none. Android matches by id, not by name. */
  readonly resourceId: number;
  readonly value: ResourceValue;
}

export interface XmlElement {
  readonly name: string;
  readonly attributes: readonly XmlAttribute[];
  readonly children: readonly XmlElement[];
  /** Character data directly below the element. */
  readonly text: string;
}

interface OpenElement extends XmlElement {
  readonly children: XmlElement[];
  text: string;
}

/**
 * Reads Android's binary XML into a tree. Unknown chunks are skipped, as on Android.
 * @param what names the file in errors
 * @throws MalformedError
 */
export function parseBinaryXml(bytes: Buffer, what: string): XmlElement {
  const reader = new ByteReader(bytes, what);
  const file = readChunk(reader, 0, reader.length);
  if (file.type !== CHUNK.xml) throw new MalformedError(`${what}: is not binary XML`);
  const builder = new TreeBuilder(reader);
  for (const chunk of chunksBetween(reader, file.headerSize, file.size)) builder.take(chunk);
  return builder.finish();
}

class TreeBuilder {
  private pool: StringPool | undefined;
  private resourceIds: Uint32Array | undefined;
  private readonly open: OpenElement[] = [];
  private root: XmlElement | undefined;
  private elements = 0;
  private attributes = 0;

  constructor(private readonly reader: ByteReader) {}

  take(chunk: Chunk): void {
    switch (chunk.type) {
      case CHUNK.stringPool:
        this.pool ??= new StringPool(this.reader, chunk);
        break;
      case CHUNK.resourceMap:
        this.resourceIds ??= this.readResourceIds(chunk);
        break;
      case CHUNK.startElement:
        this.start(chunk);
        break;
      case CHUNK.endElement:
        this.open.pop();
        break;
      case CHUNK.text:
        this.addText(chunk);
        break;
      default:
    }
  }

  /** @throws MalformedError when there was no element */
  finish(): XmlElement {
    if (!this.root) throw new MalformedError(`${this.reader.what}: has no root element`);
    return this.root;
  }

  private readResourceIds(chunk: Chunk): Uint32Array {
    const count = Math.floor((chunk.size - chunk.headerSize) / 4);
    return Uint32Array.from({ length: count }, (_each, index) => this.reader.u32(chunk.at + chunk.headerSize + index * 4));
  }

  private start(chunk: Chunk): void {
    if (++this.elements > LIMITS.xmlElements || this.open.length >= LIMITS.xmlDepth) {
      throw new MalformedError(`${this.reader.what}: has too many or too deep elements`);
    }
    const body = chunk.at + chunk.headerSize;
    const name = this.pool?.at(this.reader.u32(body + 4)) ?? '';
    const element: OpenElement = { name, attributes: this.readAttributes(chunk, body), children: [], text: '' };
    const parent = this.open.at(-1);
    if (parent) parent.children.push(element);
    else this.root ??= element;
    this.open.push(element);
  }

  private addText(chunk: Chunk): void {
    const element = this.open.at(-1);
    const text = this.pool?.at(this.reader.u32(chunk.at + chunk.headerSize)) ?? '';
    if (element && element.text.length + text.length <= LIMITS.stringLength) element.text += text;
  }

  private readAttributes(chunk: Chunk, body: number): XmlAttribute[] {
    const start = body + this.reader.u16(body + 8);
    const stride = this.reader.u16(body + 10);
    const count = this.reader.u16(body + 12);
    this.attributes += count;
    if (this.attributes > LIMITS.xmlAttributes) throw new MalformedError(`${this.reader.what}: has too many attributes`);
    if (count > 0 && (stride < 20 || start + count * stride > chunk.at + chunk.size)) {
      throw new MalformedError(`${this.reader.what}: the attributes of an element do not fit`);
    }
    return Array.from({ length: count }, (_each, index) => this.readAttribute(start + index * stride));
  }

  private readAttribute(at: number): XmlAttribute {
    const nameIndex = this.reader.u32(at + 4);
    const raw = this.pool?.at(this.reader.u32(at + 8));
    const type = this.reader.u8(at + 15);
    const data = this.reader.u32(at + 16);
    const text = type === 0x03 ? (this.pool?.at(data) ?? raw) : undefined;
    return {
      name: this.pool?.at(nameIndex) ?? '',
      namespace: this.pool?.at(this.reader.u32(at)),
      resourceId: this.resourceIds?.[nameIndex] ?? 0,
      value: { type, data, text },
    };
  }
}
