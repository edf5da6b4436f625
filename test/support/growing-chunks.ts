import { CHUNK } from '../../services/workers/apk/resources/chunk';
import { createRandom } from './apk/apk-fuzz';
import { type GrowingInput } from './growing-input';

const HEADER_BYTES = 8;
const POOL_HEADER_BYTES = 28;
const NODE_HEADER_BYTES = 16;
const ATTRIBUTE_BYTES = 20;
/** Nodes that form the part which repeats. */
const MOST_NODES = 6;

function chunk(type: number, headerBytes: number, body: Buffer): Buffer {
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16LE(type, 0);
  header.writeUInt16LE(headerBytes, 2);
  header.writeUInt32LE(headerBytes + body.length, 4);
  return Buffer.concat([header, body]);
}

function stringPool(texts: readonly string[]): Buffer {
  const offsets = Buffer.alloc(texts.length * 4);
  const strings: Buffer[] = [];
  let at = 0;
  texts.forEach((text, index) => {
    offsets.writeUInt32LE(at, index * 4);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(text.length);
    const bytes = Buffer.concat([length, Buffer.from(text, 'utf16le'), Buffer.alloc(2)]);
    strings.push(bytes);
    at += bytes.length;
  });
  const pool = chunk(CHUNK.stringPool, POOL_HEADER_BYTES, Buffer.concat([offsets, ...strings]));
  pool.writeUInt32LE(texts.length, 8);
  pool.writeUInt32LE(POOL_HEADER_BYTES + offsets.length, 20);
  return pool;
}

function startElement(attributes: number, text: number): Buffer {
  const body = Buffer.alloc(ATTRIBUTE_BYTES + attributes * ATTRIBUTE_BYTES);
  body.writeUInt32LE(text, 4);
  body.writeUInt16LE(ATTRIBUTE_BYTES, 8);
  body.writeUInt16LE(ATTRIBUTE_BYTES, 10);
  body.writeUInt16LE(attributes, 12);
  for (let index = 0; index < attributes; index++) {
    const at = ATTRIBUTE_BYTES + index * ATTRIBUTE_BYTES;
    body.writeUInt32LE(text, at + 4);
    body.writeUInt32LE(text, at + 8);
    body.writeUInt8(3, at + 15);
    body.writeUInt32LE(text, at + 16);
  }
  return chunk(CHUNK.startElement, NODE_HEADER_BYTES, body);
}

function textNode(text: number): Buffer {
  const body = Buffer.alloc(12);
  body.writeUInt32LE(text, 0);
  return chunk(CHUNK.text, NODE_HEADER_BYTES, body);
}

/** A pool of few long or many short texts that grows, and nodes that name them, which grow as well. */
export function growingBinaryXml(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const longText = random(2) === 0;
  const end = chunk(CHUNK.endElement, NODE_HEADER_BYTES, Buffer.alloc(8));
  const nodes: (() => Buffer)[] = Array.from({ length: 1 + random(MOST_NODES) }, () => {
    const [attributes, text] = [random(8), random(longText ? 1 : 16)];
    return [
      () => Buffer.concat([startElement(attributes, text), end]),
      () => textNode(text),
      () => chunk(0x0177, HEADER_BYTES, Buffer.alloc(4 * text)),
    ][random(3)] as () => Buffer;
  });
  const unit = Buffer.concat(nodes.map((node) => node()));
  return (bytes) => {
    const half = Math.floor(bytes / 2);
    const texts = longText ? ['x'.repeat(Math.min(32_000, Math.floor(half / 2)))] : Array<string>(Math.floor(half / 20)).fill('a text');
    const body = [stringPool(texts), startElement(1, 0), ...Array<Buffer>(Math.ceil(half / unit.length)).fill(unit), end];
    return chunk(CHUNK.xml, HEADER_BYTES, Buffer.concat(body));
  };
}
