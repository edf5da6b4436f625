import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { readYaml } from '../../plugins/core/catalogue/read-yaml';
import { readTextFile } from '../../services/kit/read-text-file';
import { fieldsOf, type ImportLine, readImportObject } from '../../services/selling/keys/import-line';
import { IMPORT_MEMBERS, type ImportMember, isImportMember } from '../../services/selling/keys/import-members';
import { CommandError } from '../command-error';
import { readKongConsumers } from './kong-consumers';

/** A YAML text is held in memory, at some thirty times its size. Larger files are CSV or JSON lines, which are read line by line. */
const MAX_KONG_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Spreadsheets write a semicolon if the comma is the decimal sign. */
type Separator = ',' | ';' | '\t';
const CELLS: Readonly<Record<Separator, RegExp>> = {
  ',': /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";]*))(;|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t]*))(\t|$)/y,
};
const HEADER = /(?:^|[,;\t])\s*"?customer"?\s*(?:[,;\t]|$)/i;

/** The first separator in the header line, whose names contain none. */
const separatorOf = (header: string): Separator => (/[,;\t]/.exec(header)?.[0] ?? ',') as Separator;

/** RFC 4180, with any of the separators, one record per line. @returns undefined if a quote does not close on its line */
function readCsvRecord(text: string, separator: Separator = ','): string[] | undefined {
  const cells: string[] = [];
  const cell = CELLS[separator];
  cell.lastIndex = 0;
  for (;;) {
    const match = cell.exec(text);
    if (!match) return undefined;
    cells.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === '') return cells;
  }
}

interface NumberedLine {
  readonly line: number;
  readonly text: string;
}

/**
 * The lines of a file that are not empty, some thousand at a time: a turn of the event loop for each line would cost more than reading it.
 */
async function* linesOf(path: string): AsyncGenerator<readonly NumberedLine[]> {
  let line = 0;
  let rest = '';
  const numbered = (text: string): NumberedLine => ({ line: (line += 1), text: line === 1 ? text.replace(/^\uFEFF/, '') : text });
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
    const texts = (rest + String(chunk)).split(/\r?\n/);
    rest = texts.pop() ?? '';
    yield texts.map(numbered).filter(({ text }) => text.trim() !== '');
  }
  yield [numbered(rest)].filter(({ text }) => text.trim() !== '');
}

function readHeader(text: string, separator: Separator): ImportMember[] {
  const names = (readCsvRecord(text, separator) ?? []).map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !isImportMember(name));
  if (unknown !== undefined)
    throw new CommandError('invalid_argument', `column "${unknown.slice(0, 80)}" is none of ${IMPORT_MEMBERS.join(', ')}`);
  if (!names.includes('customer') || !(names.includes('key') || names.includes('sha256')))
    throw new CommandError('invalid_argument', 'the header line needs the columns customer, and key or sha256');
  return names.filter(isImportMember);
}

function readCsvLine({ line, text }: NumberedLine, { columns, separator }: CsvForm): ImportLine {
  const cells = readCsvRecord(text, separator);
  if (cells?.length !== columns.length)
    return { line, reason: `has ${cells?.length ?? 'no readable'} fields, and the header line ${columns.length}` };
  const values: Partial<Record<ImportMember, string>> = {};
  for (const [index, name] of columns.entries()) values[name] = cells[index] ?? '';
  return { line, fields: fieldsOf(values) };
}

interface CsvForm {
  readonly columns: readonly ImportMember[];
  readonly separator: Separator;
}

function readForm(header: string): CsvForm {
  const separator = separatorOf(header);
  return { separator, columns: readHeader(header, separator) };
}

async function* readCsv(path: string): AsyncGenerator<readonly ImportLine[]> {
  let form: CsvForm | undefined;
  for await (const lines of linesOf(path)) {
    const [first] = lines;
    if (!first) continue;
    const isHeader = form === undefined;
    const known = (form ??= readForm(first.text));
    yield (isHeader ? lines.slice(1) : lines).map((each) => readCsvLine(each, known));
  }
}

function readJsonLine({ line, text }: NumberedLine): ImportLine {
  try {
    return readImportObject(line, JSON.parse(text));
  } catch {
    return { line, reason: 'is not JSON' };
  }
}

async function* readJsonLines(path: string): AsyncGenerator<readonly ImportLine[]> {
  for await (const lines of linesOf(path)) yield lines.map(readJsonLine);
}

function readKong(path: string, products: ReadonlySet<string>): Iterable<ImportLine> {
  const text = readTextFile(path, MAX_KONG_BYTES);
  if (text === undefined) {
    const most = MAX_KONG_BYTES / 1024 / 1024;
    throw new CommandError('invalid_argument', `a Kong file has at most ${most} MiB; write a larger one as CSV or as JSON lines`);
  }
  const yaml = readYaml(text);
  if ('problems' in yaml) {
    const [first] = yaml.problems;
    throw new CommandError(
      'invalid_argument',
      `${path}:${first?.line ?? 1} is neither CSV, JSON lines nor a Kong file: ${first?.message ?? ''}`,
    );
  }
  return readKongConsumers(yaml, products);
}

type Form = 'csv' | 'json lines' | 'kong';

/**
 * The beginning decides, not the name: a header line contains `customer`, a JSON line is a complete object, and everything else is YAML or
 * JSON.
 */
async function formOf(path: string): Promise<Form> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [first = ''] = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .split(/\r?\n/, 1);
    if (HEADER.test(first)) return 'csv';
    if (!first.startsWith('{')) return 'kong';
    const whole = readJsonLine({ line: 1, text: first });
    return 'fields' in whole || (whole.reason !== 'is not JSON' && !/"(consumers|_format_version|keyauth_credentials)"/.test(first))
      ? 'json lines'
      : 'kong';
  } finally {
    await file.close();
  }
}

/**
 * The keys of a file, in batches: CSV with a header line, JSON lines, or a declarative file of Kong or a dump of deck.
 * @param products ids on sale: a Kong group with such a name gives access to that product
 * @throws CommandError `invalid_argument` for a file of any other form
 */
export async function* readImportFile(path: string, products: ReadonlySet<string>): AsyncGenerator<readonly ImportLine[]> {
  const form = await formOf(path).catch((cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError('invalid_argument', `the file cannot be read: ${reason}`, { cause });
  });
  if (form === 'kong') yield [...readKong(path, products)];
  else if (form === 'csv') yield* readCsv(path);
  else yield* readJsonLines(path);
}
