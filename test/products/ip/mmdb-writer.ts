import { parseIpNetwork } from '../../../plugins/core/access/ip-address';

/**
 * A small writer of MaxMind DB files (format 2.0), so that tests have databases of every shape: a v6 tree with v4 networks at `::/96`,
 * 32-bit records, no pointers.
 */
type Value = string | number | boolean | readonly Value[] | { readonly [name: string]: Value };

const TYPE = { string: 2, double: 3, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11, boolean: 14 } as const;
const METADATA_MARK = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

function control(type: number, size: number): Buffer {
  const length = size < 29 ? [] : size < 285 ? [size - 29] : [(size - 285) >> 8, (size - 285) & 0xff];
  if (size >= 65_821) throw new Error('too large for this writer');
  const short = length.length === 0 ? size : 28 + length.length;
  return type <= 7 ? Buffer.from([(type << 5) | short, ...length]) : Buffer.from([short, type - 7, ...length]);
}

function encodeInteger(type: number, value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.concat([control(type, bytes.length), Buffer.from(bytes)]);
}

export function encodeValue(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(TYPE.string, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'boolean') return control(TYPE.boolean, value ? 1 : 0);
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0) return encodeInteger(TYPE.uint32, value);
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Buffer.concat([control(TYPE.double, 8), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(TYPE.array, value.length), ...value.map(encodeValue)]);
  const entries = Object.entries(value as Record<string, Value>);
  return Buffer.concat([control(TYPE.map, entries.length), ...entries.flatMap(([name, each]) => [encodeValue(name), encodeValue(each)])]);
}

interface Node {
  children: [Branch, Branch];
}
type Branch = Node | number | undefined;

function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const parsed = parseIpNetwork(network);
  if (!parsed) throw new Error(`${network} is not a network`);
  const { address, prefixLength } = parsed;
  const bits = [...address.value.toString(2).padStart(address.bits, '0')].map(Number).slice(0, prefixLength);
  return address.version < ipVersion ? [...Array.from({ length: 96 }, () => 0), ...bits] : bits;
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  bits.slice(0, -1).forEach((bit) => {
    const next = node.children[bit as 0 | 1];
    if (typeof next === 'number') throw new Error('networks must not overlap');
    const child: Node = next ?? { children: [undefined, undefined] };
    node.children[bit as 0 | 1] = child;
    node = child;
  });
  node.children[(bits.at(-1) ?? 0) as 0 | 1] = offset;
}

/** @param records by network, v4 and v6 mixed, not overlapping; v4 alone where there are no others */
export function writeMmdb(databaseType: string, records: Readonly<Record<string, Value>>, ipVersion: 4 | 6 = 6): Buffer {
  const root: Node = { children: [undefined, undefined] };
  const data: Buffer[] = [];
  let offset = 0;
  for (const [network, record] of Object.entries(records)) {
    const bytes = encodeValue(record);
    insert(root, bitsOf(network, ipVersion), offset);
    data.push(bytes);
    offset += bytes.length;
  }
  const nodes = [root];
  const numbers = new Map([[root, 0]]);
  for (const node of nodes) {
    for (const child of node.children) {
      if (typeof child !== 'object') continue;
      numbers.set(child, nodes.length);
      nodes.push(child);
    }
  }
  const tree = Buffer.alloc(nodes.length * 8);
  nodes.forEach((node, index) => {
    node.children.forEach((child, side) => {
      const value = child === undefined ? nodes.length : typeof child === 'number' ? nodes.length + 16 + child : (numbers.get(child) ?? 0);
      tree.writeUInt32BE(value, index * 8 + side * 4);
    });
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, METADATA_MARK, metadata(databaseType, nodes.length, ipVersion)]);
}

function metadata(databaseType: string, nodeCount: number, ipVersion: 4 | 6): Buffer {
  return encodeValue({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_767_225_600,
    database_type: databaseType,
    description: { en: 'test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodeCount,
    record_size: 32,
  });
}
