import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../command-error';

/** Half of the 2 GiB that one protocol buffer can hold. Each thread loads the whole model. */
const MAX_MODEL_BYTES = 1_073_741_824;

const NAME = /^[A-Za-z0-9][\w.-]{0,95}\.onnx$/;

/** A model in the folder. */
export interface KeptModel {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the present file, in hexadecimal. */
  readonly sha256: string;
  /** RFC 3339. */
  readonly added_at: string;
}

function refused(message: string): CommandError {
  return new CommandError('model_refused', message);
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw refused(`${file} is not a readable file`);
  if (found.size > MAX_MODEL_BYTES) throw refused(`${file} is larger than ${MAX_MODEL_BYTES} bytes`);
  return found.size;
}

/** @param to path to which the file is also copied, if given */
async function hashOf(file: string, to?: string): Promise<string> {
  const hash = createHash('sha256');
  const source = createReadStream(file, { end: MAX_MODEL_BYTES });
  source.on('data', (chunk) => void hash.update(chunk));
  if (to === undefined) for await (const _ of source);
  else await pipeline(source, createWriteStream(to, { flags: 'wx', flush: true }));
  return hash.digest('hex');
}

async function describe(folder: string, name: string): Promise<KeptModel> {
  const file = join(folder, name);
  const { size, mtime } = await stat(file);
  return { name, file, bytes: size, sha256: await hashOf(file), added_at: mtime.toISOString() };
}

async function checkCopy(file: string, source: string): Promise<void> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > MAX_MODEL_BYTES) throw refused(`${source} is larger than ${MAX_MODEL_BYTES} bytes`);
    if (!(await isOnnxModel(handle, size))) throw refused(`${source} is not an ONNX model`);
  } finally {
    await handle.close();
  }
}

/**
 * Copies a model into the folder, under its own name. The copy is checked before it gets its name, so a model is either complete or absent.
 * @param sha256 in hexadecimal, as its maker publishes it
 * @throws CommandError `model_refused`
 */
export async function addModel(
  source: string,
  { folder, sha256 }: { readonly folder: string; readonly sha256: string },
): Promise<KeptModel> {
  const name = basename(source);
  if (!NAME.test(name)) throw refused(`${name} must end in .onnx and have only letters, digits, dots, hyphens and underscores`);
  await sizeOf(source);
  const [kept] = (await listModels(folder)).filter((model) => model.name === name);
  if (kept && kept.sha256 !== sha256) throw refused(`another ${name} exists; npx tollgate model remove ${name} removes it`);
  if (kept) return kept;
  await mkdir(folder, { recursive: true });
  const copy = join(folder, `.${name}.${randomUUID()}`);
  try {
    const actual = await hashOf(source, copy);
    if (actual !== sha256) throw refused(`the SHA-256 of ${source} is ${actual}`);
    await checkCopy(copy, source);
    await rename(copy, join(folder, name));
  } finally {
    await rm(copy, { force: true });
  }
  return describe(folder, name);
}

/** Sorted by name; empty when there is no folder. */
export async function listModels(folder: string): Promise<KeptModel[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => NAME.test(name))
      .sort()
      .map((name) => describe(folder, name)),
  );
}

/** @throws CommandError `model_unknown` */
export async function removeModel(name: string, folder: string): Promise<void> {
  const isKept = NAME.test(name) && (await stat(join(folder, name)).catch(() => undefined))?.isFile() === true;
  if (!isKept) throw new CommandError('model_unknown', `there is no model ${name}; npx tollgate model list shows them`);
  await rm(join(folder, name));
}

/** Fields of ModelProto (onnx.proto, IR version 3 to 13) by number, with their wire types. */
const VARINT = 0;
const BYTES = 2;
const FIELDS: ReadonlyMap<number, number> = new Map([
  [1, VARINT],
  [2, BYTES],
  [3, BYTES],
  [4, BYTES],
  [5, VARINT],
  [6, BYTES],
  [7, BYTES],
  [8, BYTES],
  [14, BYTES],
  [20, BYTES],
  [25, BYTES],
  [26, BYTES],
]);
const IR_VERSION = 1;
const GRAPH = 7;
const OPERATOR_SET = 8;

/** Maximum bytes of two numbers of a protocol buffer. */
const HEAD_BYTES = 20;

/** @returns the number and its length in bytes; undefined when there is none */
function readVarint(bytes: Buffer, from: number): { value: number; length: number } | undefined {
  let value = 0;
  for (let length = 1; length <= 10 && from + length <= bytes.length; length++) {
    const byte = bytes[from + length - 1] ?? 0;
    value += (byte & 127) * 2 ** (7 * (length - 1));
    if (byte < 128) return { value, length };
  }
  return undefined;
}

/** The field at an offset, and the offset of the next field. */
async function readField(file: FileHandle, offset: number): Promise<{ field: number; end: number } | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, offset);
  const head = buffer.subarray(0, bytesRead);
  const tag = readVarint(head, 0);
  const next = tag && readVarint(head, tag.length);
  if (!tag || !next) return undefined;
  const [field, wireType] = [Math.floor(tag.value / 8), tag.value % 8];
  if (FIELDS.get(field) !== wireType) return undefined;
  return { field, end: offset + tag.length + next.length + (wireType === BYTES ? next.value : 0) };
}

/**
 * True when a file has the outline of an ONNX model: a protocol buffer of ModelProto's fields that ends where the file does, with a
 * version, a graph and a set of operators. The graph itself is not checked; the runtime does that.
 * @param size of the file, in bytes
 */
async function isOnnxModel(file: FileHandle, size: number): Promise<boolean> {
  const seen = new Set<number>();
  let offset = 0;
  while (offset < size) {
    const found = await readField(file, offset);
    if (!found) return false;
    seen.add(found.field);
    offset = found.end;
  }
  return offset === size && [IR_VERSION, GRAPH, OPERATOR_SET].every((field) => seen.has(field));
}
