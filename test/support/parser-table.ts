import { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readFormField } from '../../plugins/core/form-body';
import { readParameter, removeParameter } from '../../plugins/core/raw-parameters';
import { parseFormText } from '../../services/kit/input/form-text';
import { parseJsonText } from '../../services/kit/input/json-text';
import { readMultipart } from '../../services/kit/input/multipart';
import { parseRobots } from '../../services/kit/pages/robots';
import { emailsInPage } from '../../services/workers/ranking/emails/emails-in-page';
import { BufferSource } from '../../services/workers/apk/bytes/byte-source';
import { parseBinaryXml } from '../../services/workers/apk/resources/binary-xml';
import { ResourceTable } from '../../services/workers/apk/resources/resource-table';
import { ContentScanner } from '../../services/workers/apk/scan/content-scanner';
import { parseJarManifest } from '../../services/workers/apk/signing/jar-manifest';
import { openZip } from '../../services/workers/apk/zip/open-zip';
import { createRandom } from './apk/apk-fuzz';
import { type EntryEncoding, writeResourceTable } from './apk/apk-resource-table';
import { writeZip } from './apk/apk-zip';
import { growingBinaryXml } from './growing-chunks';
import { growingText, type GrowingInput, type Vocabulary } from './growing-input';
import { parsePage } from '../../services/kit/pages/parse-page';

export interface Parser {
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

export const KIB = 1024;
/** Everything that takes bytes from strangers apart, with inputs that grow in one shape a seed. */
export const PARSERS: Readonly<Record<string, Parser>> = {
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
