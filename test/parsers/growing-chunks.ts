import { CHUNK } from '../../services/workers/apk/resources/chunk';
import { createRandom } from '../support/apk/apk-fuzz';
import { chunk } from '../support/apk/apk-resource-table';
import { u16, u32, u8 } from '../support/apk/little-endian';
import { type GrowingInput } from './growing-input';

const POOL_HEADER_BYTES = 28;
/** Nodes that form the part which repeats. */
const MAX_NODES = 6;
const NONE = Buffer.alloc(0);
/** Line and comment of a node. */
const NODE_HEADER = u32(0, 0);

function stringPool(texts: readonly string[]): Buffer {
  const strings = texts.map((text) => Buffer.concat([u16(text.length), Buffer.from(text, 'utf16le'), u16(0)]));
  let at = 0;
  const offsets = strings.map(({ length }) => (at += length) - length);
  const header = u32(texts.length, 0, 0, POOL_HEADER_BYTES + 4 * texts.length, 0);
  return chunk(CHUNK.stringPool, header, Buffer.concat([u32(...offsets), ...strings]));
}

function startElement(attributes: number, text: number): Buffer {
  const attribute = Buffer.concat([u32(0, text, text), u16(0), u8(0, 3), u32(text)]);
  const body = [u32(0, text), u16(20, 20, attributes, 0, 0, 0), ...Array<Buffer>(attributes).fill(attribute)];
  return chunk(CHUNK.startElement, NODE_HEADER, Buffer.concat(body));
}

/** A pool of few long or many short texts that grows, and nodes that name them, which grow as well. */
export function growingBinaryXml(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const longText = random(2) === 0;
  const end = chunk(CHUNK.endElement, NODE_HEADER, u32(0, 0));
  const nodes = Array.from({ length: 1 + random(MAX_NODES) }, () => {
    const [attributes, text] = [random(8), random(longText ? 1 : 16)];
    return [
      () => Buffer.concat([startElement(attributes, text), end]),
      () => chunk(CHUNK.text, NODE_HEADER, u32(text, 0, 0)),
      () => chunk(0x0177, NONE, Buffer.alloc(4 * text)),
    ][random(3)] as () => Buffer;
  });
  const unit = Buffer.concat(nodes.map((node) => node()));
  return (bytes) => {
    const half = Math.floor(bytes / 2);
    const texts = longText ? ['x'.repeat(Math.min(32_000, Math.floor(half / 2)))] : Array<string>(Math.floor(half / 20)).fill('a text');
    const body = [stringPool(texts), startElement(1, 0), ...Array<Buffer>(Math.ceil(half / unit.length)).fill(unit), end];
    return chunk(CHUNK.xml, NONE, Buffer.concat(body));
  };
}
