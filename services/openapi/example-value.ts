import { isObject, type Json } from './document-parts';

/** A value that the input accepts. */
export interface Example {
  readonly value: unknown;
  /** True if the document has no example, so that this one was made from the schema. It has the right form, but may have no meaning. */
  readonly isMade: boolean;
}

/** Deeper values are left out of an example, because nobody reads them there. */
const DEEPEST = 6;
/** Maximum members shown of an object that requires none. */
const MAX_MEMBERS = 12;

/** Example texts by format. Names and addresses are those that RFC 2606 and RFC 5737 reserve for examples. */
const TEXTS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'name@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  hostname: 'example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  binary: 'file',
  byte: 'ZXhhbXBsZQ==',
};

const given = (value: unknown): Example => ({ value, isMade: false });
const made = (value: unknown): Example => ({ value, isMade: true });
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/**
 * A parameter that contains its schema and examples. If the document has them in a `content`, they are taken from there, and the value is
 * written as JSON.
 * @param part resolved: see `ReferenceResolver`
 */
export function readParameter(part: Json): Json {
  const [media] = Object.values(isObject(part['content']) ? part['content'] : {});
  if (!isObject(media)) return { schema: {}, ...part };
  const { schema = {}, example, examples } = media;
  return { ...part, schema, example, examples, isJson: true };
}

/**
 * An example of a parameter or a body: the document's own, or one made from the schema.
 * @param part a parameter or a media type object, resolved
 * @param name the example of a text without any rule
 * @param depth the depth to assume for the part: a greater one makes a shorter example
 */
export function exampleOf(part: Json, name: string, depth = 0): Example {
  if (part['example'] !== undefined) return given(part['example']);
  const [first] = Object.values(isObject(part['examples']) ? part['examples'] : {});
  if (isObject(first) && first['value'] !== undefined) return given(first['value']);
  // A member of OpenAPI 2 that generators still write.
  if (part['x-example'] !== undefined) return given(part['x-example']);
  return exampleOfSchema(isObject(part['schema']) ? part['schema'] : {}, name, depth);
}

/** @param schema resolved: see `ReferenceResolver` */
export function exampleOfSchema(schema: Json, name: string, depth = 0): Example {
  if (schema['example'] !== undefined) return given(schema['example']);
  if (Array.isArray(schema['examples']) && schema['examples'].length > 0) return given(schema['examples'][0]);
  if (schema['const'] !== undefined) return made(schema['const']);
  if (schema['default'] !== undefined) return made(schema['default']);
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return made(schema['enum'][0]);
  const variants = Array.isArray(schema['anyOf']) ? schema['anyOf'].filter(isObject) : [];
  const variant = variants.find(({ type }) => type !== 'null');
  if (variant && !isObject(schema['properties'])) return exampleOfSchema(variant, name, depth);
  return ofType(schema, name, depth);
}

function ofType(schema: Json, name: string, depth: number): Example {
  const types = Array.isArray(schema['type']) ? (schema['type'] as unknown[]) : [schema['type']];
  const type = types.find((each) => each !== 'null') ?? (isObject(schema['properties']) ? 'object' : undefined);
  if (type === 'integer' || type === 'number') return made(numberIn(schema));
  if (type === 'boolean') return made(true);
  if (type === 'array') return listOf(schema, name, depth);
  if (type === 'object') return objectOf(schema, depth);
  return made(textOf(schema, name));
}

function numberIn(schema: Json): number {
  const above = numberOf(schema['exclusiveMinimum']);
  const least = above === undefined ? numberOf(schema['minimum']) : above + 1;
  const most = numberOf(schema['maximum']);
  const value = Math.max(1, least ?? 1);
  return most === undefined ? value : Math.min(value, most);
}

function textOf(schema: Json, name: string): string {
  const text = TEXTS[String(schema['format'])] ?? name;
  const least = Math.min(numberOf(schema['minLength']) ?? 0, 200);
  return text.padEnd(least, 'x').slice(0, numberOf(schema['maxLength']) ?? 200);
}

function listOf(schema: Json, name: string, depth: number): Example {
  if (depth >= DEEPEST || !isObject(schema['items'])) return made([]);
  const entry = exampleOfSchema(schema['items'], name, depth + 1);
  const count = Math.min(Math.max(1, numberOf(schema['minItems']) ?? 1), 3);
  return { value: new Array(count).fill(entry.value), isMade: entry.isMade };
}

function objectOf(schema: Json, depth: number): Example {
  const properties = Object.entries(isObject(schema['properties']) ? schema['properties'] : {});
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []);
  const wanted = properties.filter(([name, member]) => required.has(name) || hasExample(member));
  const shown = wanted.length > 0 ? wanted : properties.slice(0, MAX_MEMBERS);
  if (depth >= DEEPEST) return made({});
  const members = shown.map(([name, member]) => [name, exampleOfSchema(isObject(member) ? member : {}, name, depth + 1)] as const);
  const value = Object.fromEntries(members.map(([name, example]) => [name, example.value]));
  return { value, isMade: members.length === 0 || members.some(([, { isMade }]) => isMade) };
}

const hasExample = (schema: unknown): boolean => isObject(schema) && (schema['example'] !== undefined || Array.isArray(schema['examples']));
