import { isObject, type Json, type Kind, mapParts, namesIn, referenceTo, type Standing, valueAt } from '../document-parts';
import { pascal } from '../name-schemas';

/** The components section of each kind. Headers have the members of parameters, but a section of their own. */
const SECTIONS: Readonly<Partial<Record<Kind, string>>> = {
  schema: 'schemas',
  response: 'responses',
  parameter: 'parameters',
  body: 'requestBodies',
  callback: 'callbacks',
};
/** Members whose parts become components in the section of the same name. */
const HELD = new Set(['headers', 'examples', 'links']);

/** A path may refer to a path that refers to another. */
const MAX_HOPS = 10;

const isComponent = ([place, , ...names]: readonly string[]): boolean => place === 'components' && names.length === 1;

/** Gives the references of a document one form: every reference that can be followed refers to a component. */
class References {
  /** Places to which something refers, with their new names as components. */
  private readonly moved = new Map<string, string>();
  private readonly names = new Set<string>();
  private readonly waiting: { readonly section: string; readonly name: string; readonly value: unknown; readonly kind: Kind }[] = [];
  readonly added: Record<string, Record<string, unknown>> = {};

  private readonly heirs: Heirs;

  constructor(private readonly document: Json) {
    this.heirs = heirsIn(valueAt(document, ['components', 'schemas']));
  }

  /** Rewrites a part and everything in it. */
  rewrite(part: unknown, kind: Kind, at: Standing): unknown {
    if (kind === 'reference') return typeof part === 'string' && part.startsWith('#') ? this.leadTo(part, 'schema', at) : part;
    if (!isObject(part)) return part;
    if (kind === 'link') return this.byName(part);
    const shown = this.withExample(part, at.keyword === 'examples' ? 'value' : 'example');
    const whole = kind === 'schema' ? this.schema(shown, at) : shown;
    const inside = mapParts(whole, kind, (inner, of, stands) => this.rewrite(inner, of, stands));
    const reference = inside['$ref'];
    return typeof reference === 'string' && reference.startsWith('#') ? { ...inside, $ref: this.leadTo(reference, kind, at) } : inside;
  }

  /** Adds the new components, and those that they need in turn. */
  finish(): void {
    for (let next = this.waiting.pop(); next !== undefined; next = this.waiting.pop()) {
      const { section, name, value, kind } = next;
      (this.added[section] ??= {})[name] = this.rewrite(value, kind, { keyword: section, name });
    }
  }

  /** A path with its content, if that is elsewhere in the document. A reference that leads nowhere stays as it is. */
  pathAt(item: unknown): unknown {
    let found = item;
    for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string' && hops < MAX_HOPS; hops += 1) {
      const { $ref, ...beside } = found;
      const target = this.find(namesIn(String($ref)));
      if (!isObject(target)) return item;
      found = { ...target, ...beside };
    }
    return found;
  }

  private schema(part: Json, { keyword, name }: Standing): Json {
    return withFullMapping(inWordsOf31(part), keyword === 'schemas' ? name : undefined, this.heirs);
  }

  /** An example is data. Authors nevertheless write a reference to a named example in its place, and linters follow it. */
  private exampleAt(data: unknown): unknown {
    const reference = isObject(data) && Object.keys(data).length === 1 ? data['$ref'] : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#')) return data;
    const named = this.find(namesIn(reference));
    return isObject(named) && 'value' in named ? named['value'] : data;
  }

  /** A part with its own example resolved: its `example`, or the `value` of a named example. */
  private withExample(part: Json, member: 'example' | 'value'): Json {
    return member in part ? { ...part, [member]: this.exampleAt(part[member]) } : part;
  }

  /** A link that refers to its operation by the operation's id, if it has one. */
  private byName(link: Json): Json {
    const { operationRef, ...rest } = link;
    const target = typeof operationRef === 'string' && operationRef.startsWith('#') ? this.find(namesIn(operationRef)) : undefined;
    return isObject(target) && typeof target['operationId'] === 'string' ? { ...rest, operationId: target['operationId'] } : link;
  }

  private leadTo(reference: string, kind: Kind, { keyword }: Standing): string {
    const names = namesIn(reference);
    const section = HELD.has(keyword) ? keyword : SECTIONS[kind];
    if (isComponent(names) || section === undefined) return referenceTo(names);
    const value = this.find(names);
    if (value === undefined) return reference;
    return referenceTo(['components', section, this.move({ section, names, value, kind })]);
  }

  /** The value at a place, following references on the way. */
  private find(names: readonly string[], hops = 0): unknown {
    let value: unknown = this.document;
    for (const name of names) {
      if (isObject(value) && typeof value['$ref'] === 'string' && !Object.hasOwn(value, name) && hops < MAX_HOPS)
        value = this.find(namesIn(value['$ref']), hops + 1);
      value = valueAt(value, [name]);
    }
    return value;
  }

  /** @returns the name of this place as a component */
  private move({ section, names, value, kind }: { section: string; names: readonly string[]; value: unknown; kind: Kind }): string {
    const place = [section, ...names].join('/');
    const known = this.moved.get(place);
    if (known !== undefined) return known;
    const wanted = pascal(names.slice(1).join('_'));
    let name = wanted;
    for (let number = 2; this.isTaken(section, name); number += 1) name = `${wanted}${number}`;
    this.names.add(`${section}/${name}`);
    this.moved.set(place, name);
    this.waiting.push({ section, name, value, kind });
    return name;
  }

  private isTaken(section: string, name: string): boolean {
    return this.names.has(`${section}/${name}`) || valueAt(this.document, ['components', section, name]) !== undefined;
  }
}

/**
 * Normalises a document for everything that reads it: in the words of OpenAPI 3.1, with the content of each path in place, and with
 * references only to components.
 * @param document complete: see `bundleFolder`. Broken parts stay as they are.
 */
export function normalForm(document: Json): Json {
  const references = new References(document);
  const { paths } = document;
  const inPlace = isObject(paths)
    ? Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, references.pathAt(item)]))
    : paths;
  const rewritten = references.rewrite({ ...document, paths: inPlace }, 'document', { keyword: '' }) as Json;
  references.finish();
  const components = Object.entries(references.added).reduce<Json>(
    (all, [section, named]) => ({ ...all, [section]: { ...(isObject(all[section]) ? all[section] : {}), ...named } }),
    isObject(rewritten['components']) ? rewritten['components'] : {},
  );
  return Object.keys(references.added).length > 0 ? { ...rewritten, components } : rewritten;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const referencesIn = (list: unknown): readonly string[] =>
  listOf(list).flatMap((each) => (isObject(each) && typeof each['$ref'] === 'string' ? [each['$ref']] : []));
const schemaNamed = (name: string): string => referenceTo(['components', 'schemas', name]);

/** A mapping may refer to a schema by its bare name. */
const targetOf = (target: unknown): unknown => (typeof target === 'string' && /^[\w.-]+$/.test(target) ? schemaNamed(target) : target);

/** Names of the schemas that include a schema by `allOf`, by that schema's name. */
type Heirs = ReadonlyMap<string, readonly string[]>;

/** @param schemas the components of a document */
function heirsIn(schemas: unknown): Heirs {
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
function withFullMapping(schema: Json, name: string | undefined, heirs: Heirs): Json {
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

const NULL = { type: 'null' };

/** In OpenAPI 3.0 a flag beside a bound excludes the bound from the range. OpenAPI 3.1 has a keyword of its own for such a bound. */
function withOpenBounds(schema: Json): Json {
  const bounds = [['minimum', 'exclusiveMinimum'], ['maximum', 'exclusiveMaximum']] as const; // prettier-ignore
  return bounds.reduce<Json>((all, [bound, open]) => {
    if (typeof all[open] !== 'boolean') return all;
    const { [bound]: value, [open]: isOpen, ...rest } = all;
    return value === undefined ? rest : { ...rest, [isOpen ? open : bound]: value };
  }, schema);
}

const withNullIn = (list: readonly unknown[], value: unknown, isNull: (entry: unknown) => boolean): readonly unknown[] =>
  list.some(isNull) ? list : [...list, value];

/**
 * `nullable` as a type or a variant. Strictly, OpenAPI 3.0 gives it no meaning beside `$ref` or `allOf`, but generators write it there and
 * mean it.
 */
function withNull(schema: Json): Json {
  const { nullable, ...rest } = schema;
  if (typeof nullable !== 'boolean') return schema;
  if (!nullable) return rest;
  if ('$ref' in rest || Array.isArray(rest['allOf'])) {
    const { title, description, ...shape } = rest;
    return { ...(title !== undefined && { title }), ...(description !== undefined && { description }), anyOf: [shape, NULL] };
  }
  const { type, enum: values, anyOf, oneOf } = rest;
  const isNullType = (entry: unknown): boolean => isObject(entry) && entry['type'] === 'null';
  return {
    ...rest,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(type) && { type: withNullIn(type, 'null', (each) => each === 'null') }),
    ...(Array.isArray(values) && { enum: withNullIn(values, null, (each) => each === null) }),
    ...(Array.isArray(anyOf) && { anyOf: withNullIn(anyOf, NULL, isNullType) }),
    ...(Array.isArray(oneOf) && { oneOf: withNullIn(oneOf, NULL, isNullType) }),
  };
}

/** Replaces the keywords of OpenAPI 3.0 that 3.1 does not know, whatever version the document declares. Schemas inside stay as they are. */
const inWordsOf31 = (schema: Json): Json => withNull(withOpenBounds(schema));
