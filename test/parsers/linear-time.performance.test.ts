import { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readFormField } from '../../plugins/core/form-body';
import { readParameter, removeParameter } from '../../plugins/core/raw-parameters';
import { ServiceError } from '../../services/kit/errors';
import { parseFormText } from '../../services/kit/input/form-text';
import { parseJsonText } from '../../services/kit/input/json-text';
import { readMultipart } from '../../services/kit/input/multipart';
import { PageTooComplex, parsePage } from '../../services/kit/pages/parse-page';
import { parseRobots } from '../../services/kit/pages/robots';
import { emailsInPage } from '../../services/workers/ranking/emails/emails-in-page';
import { ApkRefused, MalformedError } from '../../services/workers/apk/apk-error';
import { BufferSource } from '../../services/workers/apk/bytes/byte-source';
import { parseBinaryXml } from '../../services/workers/apk/resources/binary-xml';
import { ResourceTable } from '../../services/workers/apk/resources/resource-table';
import { ContentScanner } from '../../services/workers/apk/scan/content-scanner';
import { parseJarManifest } from '../../services/workers/apk/signing/jar-manifest';
import { openZip } from '../../services/workers/apk/zip/open-zip';
import { createRandom } from '../support/apk/apk-fuzz';
import { type EntryEncoding, writeResourceTable } from '../support/apk/apk-resource-table';
import { writeZip } from '../support/apk/apk-zip';
import { growingBinaryXml } from '../support/growing-chunks';
import { growingText, type GrowingInput, type Vocabulary } from '../support/growing-input';

/** Set for a longer run. */
const SEEDS = Number(process.env['PARSER_SEEDS'] ?? 16);
/** Parts of the longest input that are measured, each four times the one before. */
const STEPS = [16, 4, 1];
/** Three for each doubling; what grows with the square grows sixteenfold. */
const MOST_GROWTH = 3 ** 2;
/** Milliseconds of CPU. Below it, a measurement is noise; what grows with the square is far above it. */
const NOISE_MS = 25;

interface Parser {
  /** Bytes of the longest input that it is measured with. */
  readonly most: number;
  readonly grow: (seed: number) => GrowingInput<string | Buffer>;
  readonly parse: (input: string | Buffer) => unknown;
}

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
  '<',
  '>',
  '"',
  "'",
  '=',
  ' ',
  '&amp;',
  '&#',
  'word ',
  '<b x="',
  '<script>',
  '<svg>',
  '<title>',
  'a@b.example ',
  '<a href="mailto:x@y.example">',
  '\u0000',
];
const FORM_TOKENS = ['a', 'api_key', '=', '&', '%61', '%', '+', ';', '%C3%A9', '\u00e9', '[]'];
const MULTIPART = [
  '\r\n',
  '--B',
  '--',
  'Content-Disposition: form-data; name="a"',
  'name="api_key"',
  ';',
  '"',
  '\\',
  'filename=x',
  ' ',
  'x',
  '\n',
];
const ROBOTS = [
  'User-agent: *\n',
  'User-agent: TollgateBot\n',
  'Disallow: /',
  'Allow: /',
  '*',
  '$',
  'a',
  '%',
  '\n',
  '#',
  ':',
  'Disallow: /*a*b\n',
  '\r',
  ' ',
  '\u00e9',
];
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
  'a',
  '0',
  '-',
  '_',
  '/',
  ' ',
  '.',
  'eyJ',
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

const KIB = 1024;
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
  'a signature file': {
    most: 2_048 * KIB,
    grow: text({ tokens: JAR, frame: ['Manifest-Version: 1.0\r\n', ''] }),
    parse: (jar) => parseJarManifest(Buffer.from(jar)),
  },
  'secrets in a file': {
    most: 2_048 * KIB,
    grow: text({ tokens: SECRETS }),
    parse: (file) => new ContentScanner().scan('a.txt', Buffer.from(file)),
  },
};

describe('four times the bytes cost about four times the CPU', () => {
  test.each(Object.entries(PARSERS))('of %s', async (_name, { most, grow, parse }) => {
    let slowest = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const input = grow(seed);
      let before: number | undefined;
      for (const step of STEPS) {
        const bytes = input(Math.floor(most / step));
        const cost = await costOf(() => parse(bytes));
        if (before !== undefined && cost > Math.max(before, NOISE_MS) * MOST_GROWTH) {
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
