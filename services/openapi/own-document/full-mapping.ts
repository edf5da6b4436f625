import { isObject, type Json, namesIn, referenceTo } from '../document-parts';

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const referencesIn = (list: unknown): readonly string[] =>
  listOf(list).flatMap((each) => (isObject(each) && typeof each['$ref'] === 'string' ? [each['$ref']] : []));
const schemaNamed = (name: string): string => referenceTo(['components', 'schemas', name]);

/** A mapping may refer to a schema by its bare name. */
const targetOf = (target: unknown): unknown => (typeof target === 'string' && /^[\w.-]+$/.test(target) ? schemaNamed(target) : target);

/** Names of the schemas that include a schema by `allOf`, by that schema's name. */
export type Heirs = ReadonlyMap<string, readonly string[]>;

/** @param schemas the components of a document */
export function heirsIn(schemas: unknown): Heirs {
  const heirs = new Map<string, string[]>();
  for (const [name, schema] of Object.entries(isObject(schemas) ? schemas : {})) {
    for (const reference of isObject(schema) ? referencesIn(schema['allOf']) : []) {
      const taken = namesIn(reference).at(-1) ?? '';
      const known = heirs.get(taken);
      if (known) known.push(name);
      else heirs.set(taken, [name]);
    }
  }
  return heirs;
}

/** Heirs and their heirs. Cycles end. */
function allHeirs(name: string, heirs: Heirs): readonly string[] {
  const found = new Set(heirs.get(name));
  // The loop also visits what it adds.
  for (const each of found) for (const next of heirs.get(each) ?? []) found.add(next);
  return [...found];
}

/**
 * Completes the mapping of a schema's discriminator. By default a value is the name of a schema: of a variant, or of a schema that includes
 * this one. The mapping is written out because names change when several documents become one.
 * @param name of the schema, if it is a component
 */
export function withFullMapping(schema: Json, name: string | undefined, heirs: Heirs): Json {
  const { discriminator } = schema;
  if (!isObject(discriminator)) return schema;
  const given = Object.entries(isObject(discriminator['mapping']) ? discriminator['mapping'] : {});
  const mapped = given.map(([value, target]) => [value, targetOf(target)] as const);
  const known = new Set(mapped.map(([, reference]) => reference));
  const variants = [...referencesIn(schema['oneOf']), ...referencesIn(schema['anyOf'])];
  const inherited = name === undefined || variants.length > 0 ? [] : allHeirs(name, heirs).map(schemaNamed);
  const implied = [...variants, ...inherited].filter((reference) => !known.has(reference));
  const mapping = Object.fromEntries([...mapped, ...implied.map((reference) => [namesIn(reference).at(-1) ?? '', reference] as const)]);
  return Object.keys(mapping).length === 0 ? schema : { ...schema, discriminator: { ...discriminator, mapping } };
}
