import { ServiceError } from '../../services/kit/errors';
import { PageTooComplex, parsePage } from '../../services/kit/pages/parse-page';
import { ApkRefused, MalformedError } from '../../services/workers/apk/apk-error';
import { createRandom } from '../support/apk/apk-fuzz';
import { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readFormField } from '../../plugins/core/access/form-body';
import { readParameter, removeParameter } from '../../plugins/core/access/raw-parameters';
import { parseFormText } from '../../services/kit/input/form-text';
import { parseJsonText } from '../../services/kit/input/json-text';
import { readMultipart } from '../../services/kit/input/multipart';
import { parseRobots } from '../../services/kit/pages/robots';
import { emailsInPage } from '../../services/workers/ranking/emails/emails-in-page';
import { BufferSource } from '../../services/workers/apk/bytes/byte-source';
import { ProtoResourceTable } from '../../services/workers/apk/bundle/proto-table';
import { parseProtoXml } from '../../services/workers/apk/bundle/proto-xml';
import { parseBinaryXml } from '../../services/workers/apk/resources/binary-xml';
import { ResourceTable } from '../../services/workers/apk/resources/resource-table';
import { ContentScanner } from '../../services/workers/apk/scan/content-scanner';
import { parseJarManifest } from '../../services/workers/apk/signing/jar-manifest';
import { openZip } from '../../services/workers/apk/zip/open-zip';
import { readEntry } from '../../services/workers/apk/zip/read-entry';
import { createApkExamples } from '../../services/sandbox/app/apk-examples';
import { chunk, type EntryEncoding, writeResourceTable } from '../support/apk/apk-resource-table';
import { analyzeBytes } from '../support/apk/apk-worker';
import { writeZip } from '../support/apk/apk-zip';
import { writeProto } from '../support/apk/proto-message';
import { CHUNK } from '../../services/workers/apk/resources/chunk';
import { u16, u32, u8 } from '../support/apk/little-endian';

/** Makes inputs of one shape in any length: what differs between two of them is how often the middle repeats. */
type GrowingInput<T> = (bytes: number) => T;

type Random = (below: number) => number;

/** Parts of a format that its parser has to keep apart. */
interface Vocabulary {
  /** Whole pieces and halves of them, also such as do not belong together. */
  readonly tokens: readonly string[];
  /** What the input has to begin and end with to be read at all. */
  readonly frame?: readonly [start: string, end: string];
}

const MAX_TOKENS = 5;
/** Of a tail or a head that stands once. */
const MAX_ONCE = 40;

function sentence(tokens: readonly string[], random: Random, most: number): string {
  return Array.from({ length: 1 + random(most) }, () => tokens[random(tokens.length)] ?? '').join('');
}

/**
 * A text of random tokens: some stand once, one to five of them repeat to the wanted length, and some stand once again. What makes a parser
 * slow repeats; where it begins and how it ends decides what the parser makes of it.
 */
function growingText({ tokens, frame = ['', ''] }: Vocabulary, seed: number): GrowingInput<string> {
  const random = createRandom(seed);
  const head = random(2) === 0 ? '' : sentence(tokens, random, MAX_ONCE);
  const unit = sentence(tokens, random, MAX_TOKENS) || tokens[0] || 'x';
  const tail = random(2) === 0 ? '' : sentence(tokens, random, MAX_ONCE);
  return (bytes) => `${frame[0]}${head}${unit.repeat(Math.ceil(bytes / unit.length))}${tail}${frame[1]}`;
}

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
function growingBinaryXml(seed: number): GrowingInput<Buffer> {
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

interface Parser {
  /** Bytes of the longest input that it is measured with. */
  readonly most: number;
  readonly grow: (seed: number) => GrowingInput<string | Buffer>;
  readonly parse: (input: string | Buffer) => unknown;
}

const text = (vocabulary: Vocabulary) => (seed: number) => growingText(vocabulary, seed);
const multipartRequest = (body: Buffer): IncomingMessage =>
  Object.assign(Readable.from([body]), {
    headers: { 'content-type': 'multipart/form-data; boundary=B' },
    complete: true,
  }) as unknown as IncomingMessage;

const HTML = [
  '<div>',
  '<a href=/x>',
  '</a>',
  '<p>',
  '</p>',
  '<table>',
  '</i>',
  '<!--',
  '-->',
  '&amp;',
  '&#',
  'word ',
  '<b x="',
  '<script>',
  '<svg>',
  '<title>',
  'a@b.example ',
  '<a href="mailto:x@y.example">',
  ...'<>"\'= \u0000',
];
const FORM_TOKENS = ['a', 'api_key', '=', '&', '%61', '%', '+', ';', '%C3%A9', '\u00e9', '[]'];
const MULTIPART = ['\r\n', '--B', '--', 'Content-Disposition: form-data; name="a"', 'name="api_key"', 'filename=x', ...';"\\ x\n'];
const ROBOTS = ['User-agent: *\n', 'User-agent: TollgateBot\n', 'Disallow: /', 'Allow: /', 'Disallow: /*a*b\n', ...'*$a%\n#:\r \u00e9'];
const SECRETS = [
  'http://a.example/',
  'https://',
  'AKIA',
  'AIza',
  'ghp_',
  'sk_live_',
  '-----BEGIN ',
  'PRIVATE KEY-----',
  'xoxb-',
  'eyJ',
  ...'a0-_/ .',
];
const JAR = ['Name: a\r\n', ' b\r\n', '\r\n', '\n', ':', ' ', 'SHA-256-Digest: x\r\n', 'a', '\r'];
const JSON_TOKENS = ['{', '}', '[', ']', '"', '\\', '\\"', ':', ',', '1', 'null', '"a"', '"a":1,', '[1],', ' ', '\\u0041', '{}', '[]'];

const ENCODINGS: readonly EntryEncoding[] = ['plain', 'sparse', 'offset16', 'compact'];

function growingTable(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const encoding = ENCODINGS[random(ENCODINGS.length)] ?? 'plain';
  const entries = Object.fromEntries(
    Array.from({ length: 1 + random(4) }, (_, index) => [index * (1 + random(50)), 0x7f010000 + random(4)]),
  );
  return (bytes) =>
    writeResourceTable(Array<{ encoding: EntryEncoding; entries: typeof entries }>(Math.ceil(bytes / 200)).fill({ encoding, entries }));
}

function growingZip(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const [isRepeated, length, method] = [random(3) === 0, random(60), random(2) * 8];
  const nameOf = (index: number): string => (isRepeated ? 'same' : `${'d/'.repeat(length)}${index.toString(36)}`);
  return (bytes) => {
    const count = Math.ceil(bytes / (200 + 4 * length));
    return writeZip(
      Array.from({ length: count }, (_, index) => ({ name: nameOf(index), data: '', method })),
      { comment: 'PK\u0005\u0006'.repeat(random(1_000)) },
    );
  };
}

/** Messages within messages, of the fields that the readers of bundles look at, one of them repeated. */
function growingProto(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const path = Array.from({ length: 1 + random(6) }, () => 1 + random(7));
  const leaf = writeProto([[1 + random(7), random(2) === 0 ? 1 : 'abc']]);
  const repeatedAt = random(path.length);
  const nest = (depth: number, times: number): Buffer => {
    const inner = depth + 1 < path.length ? nest(depth + 1, times) : leaf;
    const field = writeProto([[path[depth] ?? 1, inner]]);
    return depth === repeatedAt ? Buffer.alloc(field.length * times, field) : Buffer.concat([writeProto([[1, [[1, 1]]]]), field]);
  };
  const once = nest(0, 100).length / 100;
  return (bytes) => nest(0, Math.ceil(bytes / once));
}

/** APKs in an archive: many small ones, or fewer of many entries, stored or compressed. */
function growingSet(seed: number): GrowingInput<Buffer> {
  const random = createRandom(seed);
  const [entries, method] = [random(60), random(2) * 8];
  const sample = openZip(new BufferSource(sampleApk()));
  const files = [...sample.entries.values()].map((entry) => ({ name: entry.name, data: readEntry(sample, entry, 64 * KIB) }));
  const more = Array.from({ length: entries }, (_, index) => ({ name: `res/${index}.xml`, data: 'https://a.example/' }));
  const inner = writeZip([...files, ...more]);
  return (bytes) => {
    const count = Math.ceil(bytes / (inner.length + 100));
    return writeZip(Array.from({ length: count }, (_, index) => ({ name: `${index}.apk`, data: inner, method })));
  };
}

/** The app that the sandbox documents. */
function sampleApk(): Buffer {
  const example = createApkExamples().examples.find((each) => each.route === '/app/analyze' && each.outcome === 'success');
  const { base64 } = example?.input.file as { base64: string };
  return Buffer.from(base64, 'base64');
}

const KIB = 1024;
/** Everything that takes bytes from strangers apart, with inputs that grow in one shape a seed. */
const PARSERS: Readonly<Record<string, Parser>> = {
  'a page': { most: 2_048 * KIB, grow: text({ tokens: HTML }), parse: (html) => parsePage(String(html), 'https://a.example/') },
  'the addresses on a page': {
    most: 1_024 * KIB,
    grow: text({ tokens: ['a', '@', '.', '-', '+', ' ', 'mail', 'example', 'b@c.example', '\u00e9', '[at]', '(', '"'] }),
    parse: (page) => emailsInPage({ text: String(page), mailTargets: [String(page)] }, 'c.example'),
  },
  'a robots.txt': {
    most: 500 * KIB,
    grow: text({ tokens: ROBOTS, frame: ['User-agent: *\nDisallow: /', ''] }),
    parse: (rules) => parseRobots(String(rules), 'TollgateBot')(new URL(`https://a.example/${'ab'.repeat(900)}`)),
  },
  'a JSON body': {
    most: 1_024 * KIB,
    grow: text({ tokens: JSON_TOKENS, frame: ['{"a":', '}'] }),
    parse: (json) => parseJsonText(String(json)),
  },
  'a JSON string': {
    most: 1_024 * KIB,
    grow: text({ tokens: ['\\', '\\"', 'a', '\\u00', '\\\\'], frame: ['{"a":"', '"}'] }),
    parse: (json) => parseJsonText(String(json)),
  },
  'a form': { most: 1_024 * KIB, grow: text({ tokens: FORM_TOKENS }), parse: (form) => parseFormText(String(form), 'form') },
  'the key in a query': {
    most: 1_024 * KIB,
    grow: text({ tokens: FORM_TOKENS }),
    parse: (query) => [readParameter(String(query), 'api_key'), removeParameter(String(query), 'api_key')],
  },
  'the key in a multipart form': {
    most: 1_024 * KIB,
    grow: text({ tokens: MULTIPART, frame: ['--B\r\n', '\r\n--B--'] }),
    parse: (form) => readFormField('multipart/form-data; boundary=B', Buffer.from(form), 'api_key'),
  },
  'a multipart form': {
    most: 1_024 * KIB,
    grow: text({ tokens: MULTIPART, frame: ['--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n', '\r\n--B--\r\n'] }),
    parse: (form) => readMultipart(multipartRequest(Buffer.from(form)), { limitBytes: 4_096 * KIB, keepFiles: true, uploadFields: [] }),
  },
  'a ZIP': { most: 2_048 * KIB, grow: growingZip, parse: (zip) => openZip(new BufferSource(Buffer.from(zip))) },
  'binary XML': { most: 2_048 * KIB, grow: growingBinaryXml, parse: (xml) => parseBinaryXml(Buffer.from(xml), 'AndroidManifest.xml') },
  'a resource table': {
    most: 256 * KIB,
    grow: growingTable,
    parse: (bytes) => {
      const table = new ResourceTable(Buffer.from(bytes));
      for (let id = 0; id < 200; id++) table.valuesOf(0x7f010000 + id);
      return [...table.strings()];
    },
  },
  "a bundle's XML": { most: 2_048 * KIB, grow: growingProto, parse: (xml) => parseProtoXml(Buffer.from(xml), 'AndroidManifest.xml') },
  "a bundle's resources": {
    most: 1_024 * KIB,
    grow: growingProto,
    parse: (bytes) => {
      const table = new ProtoResourceTable(Buffer.from(bytes));
      for (let id = 0; id < 200; id++) table.valuesOf(0x01010000 + (id & 3));
      return [...table.strings()].length;
    },
  },
  'a set of APKs': { most: 1_024 * KIB, grow: growingSet, parse: (zip) => analyzeBytes(Buffer.from(zip)) },
  'a signature file': {
    most: 2_048 * KIB,
    grow: text({ tokens: JAR, frame: ['Manifest-Version: 1.0\r\n', ''] }),
    parse: (jar) => parseJarManifest(Buffer.from(jar)),
  },
  'secrets in a file': {
    most: 2_048 * KIB,
    grow: text({ tokens: SECRETS }),
    parse: (file) => new ContentScanner(() => undefined).scan('a.txt', Buffer.from(file)),
  },
};

/** Set for a longer run. */
const SEEDS = Number(process.env['PARSER_SEEDS'] ?? 16);
/** Parts of the longest input that are measured, each four times the one before. */
const STEPS = [16, 4, 1];
/** Three for each doubling; what grows with the square grows sixteenfold. */
const MAX_GROWTH = 3 ** 2;
/** Milliseconds of CPU. Below it, a measurement is noise; what grows with the square is far above it. */
const NOISE_MS = 25;

/** Refusals are answers; what matters is when they come. */
async function orRefuse(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isRefusal = [ServiceError, PageTooComplex, ApkRefused, MalformedError].some((kind) => error instanceof kind);
    if (!isRefusal) throw error;
  }
}

/** The least CPU of two tries, in milliseconds. */
async function costOf(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 2; round++) {
    const before = process.cpuUsage();
    await orRefuse(work);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

describe('four times the bytes cost about four times the CPU', () => {
  it.each(Object.entries(PARSERS))('of %s', async (_name, { most, grow, parse }) => {
    let slowest = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const input = grow(seed);
      let before: number | undefined;
      for (const step of STEPS) {
        const bytes = input(Math.floor(most / step));
        const allowed = before === undefined ? Infinity : Math.max(before, NOISE_MS) * MAX_GROWTH;
        let cost = await costOf(() => parse(bytes));
        // Once more where it seems too much: a machine that was busy elsewhere breaks one measurement, a parser's growth every one.
        if (cost > allowed) cost = Math.min(cost, await costOf(() => parse(bytes)));
        if (before !== undefined && cost > allowed) {
          throw new Error(
            `seed ${seed}: ${before.toFixed(0)} ms, then ${cost.toFixed(0)} ms for four times the bytes: ${JSON.stringify(bytes.toString('latin1').slice(0, 200))}`,
          );
        }
        before = cost;
      }
      slowest = Math.max(slowest, before ?? 0);
    }
    process.stderr.write(`slowest of ${SEEDS}: ${slowest.toFixed(0)} ms for ${most / KIB} KiB\n`);
  });
});
