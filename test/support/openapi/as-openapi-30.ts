type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (schema: unknown): boolean => isObject(schema) && schema['type'] === 'null';

/** Our own words, and keywords that OpenAPI 3.0 lacks or that say nothing of a type. */
const DROPPED = new Set(['x-codeSamples', 'x-errors', 'x-webSocket', 'x-exampleFile', 'propertyNames', 'pattern', 'license']);
const DATA = new Set(['example', 'default', 'enum', 'x-codes']);

/** Null among the variants as `nullable`. */
function withoutNull(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.some(isNull)) return schema;
  const variants = (anyOf as unknown[]).filter((each) => !isNull(each));
  const [only] = variants;
  if (variants.length > 1) return { ...rest, anyOf: variants, nullable: true };
  return isObject(only) && !('$ref' in only) ? { ...only, ...rest, nullable: true } : { ...rest, allOf: variants, nullable: true };
}

/** One of several fixed values as an `enum`, as 3.0 has it. Other unions are anything: the generator makes names without classes of them. */
function asEnum(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  const values = Array.isArray(anyOf) ? (anyOf as Json[]).map((each) => each['enum']) : [];
  if (values.length === 0) return schema;
  if (!values.every(Array.isArray)) return rest;
  return { ...rest, type: (anyOf as Json[])[0]?.['type'], enum: values.flat() };
}

function keywordOf([name, value]: [string, unknown]): [string, unknown][] {
  if (DROPPED.has(name) || (name === 'examples' && Array.isArray(value))) return [];
  if (DATA.has(name)) return [[name, value]];
  if (name === 'properties' && isObject(value)) {
    return [[name, Object.fromEntries(Object.entries(value).map(([member, each]) => [member, downgrade(each)]))]];
  }
  if (name === 'type' && Array.isArray(value)) return [[name, (value as unknown[]).find((each) => each !== 'null')], ['nullable', true]]; // prettier-ignore
  if (name === 'items' && value === false) return [];
  if (name === 'const') return [['enum', [value]]];
  if (name === 'prefixItems' && Array.isArray(value)) return [['items', value.length === 1 ? downgrade(value[0]) : {}]];
  if (name === 'exclusiveMinimum' || name === 'exclusiveMaximum') return [[name.replace('exclusiveM', 'm'), value], [name, true]]; // prettier-ignore
  return [[name, downgrade(value)]];
}

function downgrade(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(downgrade);
  if (!isObject(part)) return part;
  if (typeof part['$ref'] === 'string') return { $ref: part['$ref'] };
  return asEnum(withoutNull(Object.fromEntries(Object.entries(part).flatMap(keywordOf))));
}

/** An OpenAPI 3.1 document of ours in the words of 3.0, for generators that know no others: the same operations, shapes and names. */
export const asOpenApi30 = (document: object): object => ({ ...(downgrade(document) as object), openapi: '3.0.3' });
