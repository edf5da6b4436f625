import { type ApiOperation, type ExampleFile } from '../../../contract/api-document';

/** What the document writes where a value comes from the call before. */
const FROM_BEFORE = 'from the step before';
/** The dashboard takes requests of 4 MiB; base64 makes three bytes four. */
const MOST_FILE_BYTES = 2_500_000;

/** What is filled in; undefined where the operation has no such input. */
export interface TryValues {
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly file: File | null | undefined;
}

export interface CallBody {
  readonly contentType: string;
  readonly body?: string;
  readonly bodyBase64?: string;
}

/** The field that takes a file, when the operation is tried with one. */
export function fileFieldOf({ requestBody }: ApiOperation): string | undefined {
  const properties = requestBody?.content['multipart/form-data']?.schema?.properties ?? {};
  return Object.entries(properties).find(([, { format }]) => format === 'binary')?.[0];
}

/** True when a value must be taken from the answer of another call. */
export function needsSession(operation: ApiOperation): boolean {
  const examples = [...(operation.parameters ?? []), ...Object.values(operation.requestBody?.content ?? {})].map(({ example }) => example);
  return JSON.stringify(examples).includes(FROM_BEFORE);
}

/** The query fields with their examples; empty ones are not sent. */
export function initialQuery({ parameters = [] }: ApiOperation, sessionId: string | undefined): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, example }) => {
      const text = typeof example === 'string' || typeof example === 'number' || typeof example === 'boolean' ? String(example) : '';
      return [name, text === FROM_BEFORE ? (sessionId ?? '') : text];
    }),
  );
}

/** The path and query of a call: values that belong into the path leave the query. */
export function targetOf(path: string, query: Readonly<Record<string, string>>): { path: string; query: Record<string, string> } {
  const left = Object.entries(query).filter(([name]) => !path.includes(`{${name}}`));
  const filled = path.replaceAll(/\{([^{}]*)\}/g, (part, name: string) => (query[name] ? encodeURIComponent(query[name]) : part));
  return { path: filled, query: Object.fromEntries(left) };
}

/** The example's body as text to be edited; undefined for an operation that takes none. */
export function initialBody({ requestBody }: ApiOperation, sessionId: string | undefined): string | undefined {
  if (!requestBody) return undefined;
  const example = requestBody.content['application/json']?.example ?? {};
  return JSON.stringify(example, (_name, value: unknown) => (value === FROM_BEFORE ? (sessionId ?? value) : value), 2);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The session that an answer opened. */
export function sessionIn(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const answer: unknown = JSON.parse(text);
  const found: unknown = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'sessionId') : undefined;
  return typeof found === 'string' ? found : undefined;
}

/** Why a file cannot be sent from here. */
export function checkFile(file: File | null): string | undefined {
  if (file === null) return 'Choose a file.';
  return file.size > MOST_FILE_BYTES ? 'This page sends files up to 2.5 MB. Send larger ones with curl.' : undefined;
}

export function exampleFileOf({ filename, contentType, base64 }: ExampleFile): File {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new File([bytes], filename, { type: contentType });
}

/** A form with the file, as a browser would send it. */
export async function uploadOf(field: string, file: File): Promise<CallBody> {
  const form = new FormData();
  form.append(field, file);
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { contentType, bodyBase64: toBase64(new Uint8Array(await encoded.arrayBuffer())) };
}

function toBase64(bytes: Uint8Array): string {
  let text = '';
  // All at once would be more arguments than a call may have.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}
