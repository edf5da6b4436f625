import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { readYaml } from '../../plugins/core/catalogue/read-yaml';
import { readTextFile } from '../../services/kit/read-text-file';
import { CommandError } from '../command-error';
import { type FileLine, type ImportFields } from './import-line';
import { readKongConsumers } from './kong-consumers';

/** A YAML text is held whole, in some thirty times its size. Larger files are CSV or JSON lines, which are read line by line. */
const MAX_KONG_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 64 * 1024;

const COLUMNS = ['customer', 'key', 'sha256', 'name', 'products', 'plan', 'expires_at', 'rules'] as const;
type Column = (typeof COLUMNS)[number];

const isColumn = (name: string): name is Column => (COLUMNS as readonly string[]).includes(name);

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** An empty text is one that is not there. */
function fieldsOf(values: Partial<Record<Column, string>>): ImportFields {
  const given = Object.fromEntries(Object.entries(values).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]])));
  const { products, rules, expires_at: expiresAt, ...rest } = given as Partial<Record<Column, string>>;
  return {
    ...rest,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(products !== undefined && { products: wordsOf(products) }),
    ...(rules !== undefined && { rules: wordsOf(rules) }),
  };
}

/** RFC 4180, a record a line. @returns undefined where a quote does not close on its line */
export function readCsvRecord(text: string): string[] | undefined {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (;;) {
    const match = cell.exec(text);
    if (!match) return undefined;
    cells.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === '') return cells;
  }
}

async function* linesOf(path: string): AsyncGenerator<{ line: number; text: string }> {
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    line += 1;
    yield { line, text: line === 1 ? text.replace(/^\uFEFF/, '') : text };
  }
}

function readHeader(text: string): Column[] {
  const names = (readCsvRecord(text) ?? []).map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => !isColumn(name));
  if (unknown !== undefined)
    throw new CommandError('invalid_argument', `column "${unknown.slice(0, 80)}" is none of ${COLUMNS.join(', ')}`);
  if (!names.includes('customer') || !(names.includes('key') || names.includes('sha256')))
    throw new CommandError('invalid_argument', 'the header line needs the columns customer, and key or sha256');
  return names.filter(isColumn);
}

async function* readCsv(path: string): AsyncGenerator<FileLine> {
  let columns: Column[] | undefined;
  for await (const { line, text } of linesOf(path)) {
    if (text.trim() === '') continue;
    if (!columns) {
      columns = readHeader(text);
      continue;
    }
    const cells = readCsvRecord(text);
    if (cells?.length !== columns.length) {
      yield { line, reason: `has ${cells?.length ?? 'no readable'} fields, and the header line ${columns.length}` };
      continue;
    }
    yield { line, fields: fieldsOf(Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? '']))) };
  }
}

function readMember(name: string, value: unknown): string | undefined {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  const isList = name === 'products' || name === 'rules';
  return isList && Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(' ') : undefined;
}

function readJsonLine(line: number, text: string): FileLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { line, reason: 'is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { line, reason: 'is not a JSON object' };
  const values: Partial<Record<Column, string>> = {};
  for (const [name, member] of Object.entries(value)) {
    if (!isColumn(name)) return { line, reason: `member "${name.slice(0, 80)}" is none of ${COLUMNS.join(', ')}` };
    const read = readMember(name, member);
    if (read === undefined) return { line, reason: `member "${name}" is not a text` };
    values[name] = read;
  }
  return { line, fields: fieldsOf(values) };
}

async function* readJsonLines(path: string): AsyncGenerator<FileLine> {
  for await (const { line, text } of linesOf(path)) if (text.trim() !== '') yield readJsonLine(line, text);
}

function readKong(path: string, products: ReadonlySet<string>): Iterable<FileLine> {
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

/** Told by the beginning, not by the name: a header line has `customer`, a line of JSON is an object of its own, and all else is YAML or JSON. */
async function formOf(path: string): Promise<Form> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const [first = ''] = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart()
      .split(/\r?\n/, 1);
    if (/(^|,)\s*"?customer"?\s*(,|$)/i.test(first)) return 'csv';
    if (!first.startsWith('{')) return 'kong';
    const whole = readJsonLine(1, first);
    return 'fields' in whole || (whole.reason !== 'is not JSON' && !/"(consumers|_format_version|keyauth_credentials)"/.test(first))
      ? 'json lines'
      : 'kong';
  } finally {
    await file.close();
  }
}

/**
 * The keys of a file: CSV with a header line, JSON lines, or a declarative file of Kong or a dump of deck.
 * @param products ids that are sold: a group of Kong with such a name opens that product
 * @throws CommandError `invalid_argument` for a file of no such form
 */
export async function* readImportFile(path: string, products: ReadonlySet<string>): AsyncGenerator<FileLine> {
  const form = await formOf(path).catch((cause: unknown): never => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError('invalid_argument', `the file cannot be read: ${reason}`, { cause });
  });
  if (form === 'kong') yield* readKong(path, products);
  else if (form === 'csv') yield* readCsv(path);
  else yield* readJsonLines(path);
}
