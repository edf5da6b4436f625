import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { componentKind, isObject, type Json, type Kind, mapParts, namesIn } from './document-parts';
import { gatewayParts, operationId, withGatewayAnswers } from './product-paths';
import { ReferenceResolver } from './resolve-references';
import { SoundParts } from './sound-parts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options']);
/** Ours are the ones that count: the upstream's own keys never reach it from a customer. */
const DROPPED = new Set(['servers', 'security', 'callbacks']);

/** A part of a product's own document that Tollgate does not describe. */
export interface LeftOut {
  readonly product: string;
  /** As customers call it: `GET /weather/{city}`. */
  readonly operation: string;
  readonly reason: string;
}

/** What a product's own document describes. */
export interface OwnOperations {
  readonly paths: object;
  readonly components: Readonly<Record<string, Json>>;
  readonly leftOut: readonly LeftOut[];
  /** The groups of its operations, in the author's order. */
  readonly groups: readonly OperationGroup[];
}

/** A tag of the author's own document. In ours the product is the tag, because two products may use the same one. */
export interface OperationGroup {
  readonly name: string;
  readonly description?: string;
}

interface OwnDocument {
  readonly document: unknown;
  readonly baseUrl: string;
  /** Names of operations described before; those of this document are added. */
  readonly taken: Set<string>;
}

/**
 * The operations of a product's own OpenAPI 3 document, as customers reach them: below its prefix, with our keys, and with components under
 * names that no other product has. A broken operation is left out and named.
 */
export function ownOperations(product: CatalogueProduct, { document, baseUrl, taken }: OwnDocument): OwnOperations {
  const { paths = {}, components = {}, tags } = isObject(document) ? document : {};
  const sound = new SoundParts(isObject(components) ? components : {});
  const resolver = new ReferenceResolver({ components });
  const leftOut: LeftOut[] = [];
  const described = Object.entries(isObject(paths) ? paths : {}).flatMap(([own, item]) => {
    if (!isObject(item) || !own.startsWith('/')) return [];
    const path = pathOf(product.prefix ?? '', own);
    const leave = (operation: string, reason: string): [] => {
      leftOut.push({ product: product.id, operation, reason });
      return [];
    };
    if ('$ref' in item) return leave(path, 'the path is a $ref');
    const operations = Object.entries(item).flatMap(([method, operation]) => {
      if (!METHODS.has(method) || !isObject(operation)) return [];
      const kept = Object.fromEntries(Object.entries(operation).filter(([name]) => !DROPPED.has(name)));
      const whole = { ...kept, parameters: parametersOf(item, operation, resolver) };
      const problem = sound.problemOf(whole);
      if (problem !== undefined) return leave(`${method.toUpperCase()} ${path}`, problem);
      return [[method, describeOperation(product, { whole, resolver, taken, method, own, path, baseUrl })]];
    });
    return [[path, Object.fromEntries(operations) as object]];
  });
  return {
    paths: Object.fromEntries(described) as object,
    components: ownComponents(product.id, components, sound),
    leftOut,
    groups: groupsOf(tags),
  };
}

interface Operation {
  /** With the parameters of its path. */
  readonly whole: Json;
  readonly resolver: ReferenceResolver;
  readonly taken: Set<string>;
  readonly method: string;
  /** The path in the product's own document. */
  readonly own: string;
  readonly path: string;
  readonly baseUrl: string;
}

/** A name that leads to one place of the reference, and that generated clients can use. */
const OPERATION_ID = /^[A-Za-z][\w.-]{0,99}$/;

function describeOperation(product: CatalogueProduct, { whole, resolver, taken, method, own, path, baseUrl }: Operation): Json {
  const { id } = product;
  const given = whole['operationId'];
  const isName = typeof given === 'string' && OPERATION_ID.test(given) && !taken.has(given);
  const named = {
    operationId: isName ? given : operationId(id, { method, path: own }, taken),
    summary: summaryOf(whole, `${method.toUpperCase()} ${path}`),
  };
  taken.add(named.operationId);
  const renamed = renameReferences(whole, 'operation', id) as Json;
  const responses = withGatewayAnswers(isObject(renamed['responses']) ? renamed['responses'] : ANY_ANSWER);
  const resolved = resolver.resolve(whole, 'operation');
  const gateway = gatewayParts(product, isObject(resolved) ? resolved : {}, { method, path, baseUrl });
  const [group] = listOf(whole['tags']);
  return { ...renamed, ...named, responses, ...gateway, ...(typeof group === 'string' && { 'x-group': group }) };
}

const MAX_SUMMARY = 80;

/** What its author calls an operation. Without a name for people, the one for programs is better than the same words on all. */
function summaryOf({ summary, operationId: id, description }: Json, call: string): string {
  const named = [summary, id, description, call].find((text) => typeof text === 'string' && text.trim() !== '') as string;
  const [line = ''] = named.trim().split('\n');
  return line.length > MAX_SUMMARY && named !== summary ? `${line.slice(0, MAX_SUMMARY)}…` : line;
}

/** Those that the document describes. Others follow in the order of their operations. */
function groupsOf(tags: unknown): readonly OperationGroup[] {
  return listOf(tags).flatMap((tag) => {
    if (!isObject(tag) || typeof tag['name'] !== 'string') return [];
    const { name, description } = tag;
    return [{ name, ...(typeof description === 'string' && { description }) }];
  });
}

const ANY_ANSWER = { '200': { description: 'What the API answers.' } };

/** Those of the path, unless the operation has its own of the same name. */
function parametersOf(item: Json, operation: Json, resolver: ReferenceResolver): readonly unknown[] {
  const nameOf = (parameter: unknown): string => {
    const resolved = resolver.resolve(parameter, 'parameter');
    return isObject(resolved) ? `${String(resolved['in'])} ${String(resolved['name'])}` : '';
  };
  const own = listOf(operation['parameters']);
  const names = new Set(own.map(nameOf));
  return [...listOf(item['parameters']).filter((parameter) => !names.has(nameOf(parameter))), ...own];
}

function ownComponents(product: string, components: unknown, sound: SoundParts): OwnOperations['components'] {
  return Object.fromEntries(
    Object.entries(isObject(components) ? components : {}).flatMap(([keyword, named]) => {
      if (!isObject(named) || keyword === 'securitySchemes') return [];
      const usable = Object.entries(named).filter(([name]) => sound.isSound(keyword, name));
      const kind = componentKind(keyword);
      return [[keyword, Object.fromEntries(usable.map(([name, value]) => [`${product}.${name}`, renameReferences(value, kind, product)]))]];
    }),
  );
}

/** An upstream that knows its prefix has it in its paths already. */
function pathOf(prefix: string, own: string): string {
  if (own === prefix || own.startsWith(`${prefix}/`)) return own;
  return own === '/' ? prefix : prefix + own;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A mapping may name a schema by its name alone. */
const referenceTo = (target: unknown): unknown =>
  typeof target === 'string' && /^[\w.-]+$/.test(target) ? `#/components/schemas/${target}` : target;

/** A discriminator with all of its mapping: where it leaves one out, the value is the name of a schema, which is another here. */
function withMapping(schema: Json): Json {
  const { discriminator } = schema;
  if (!isObject(discriminator)) return schema;
  const given = Object.entries(isObject(discriminator['mapping']) ? discriminator['mapping'] : {});
  const mapped = given.map(([value, target]) => [value, referenceTo(target)] as const);
  const known = new Set(mapped.map(([, reference]) => reference));
  const variants = [...listOf(schema['oneOf']), ...listOf(schema['anyOf'])].flatMap((variant) =>
    isObject(variant) ? [variant['$ref']] : [],
  );
  const implied = variants.flatMap((reference) =>
    typeof reference === 'string' && !known.has(reference) ? [[namesIn(reference).at(-1) ?? '', reference] as const] : [],
  );
  const mapping = Object.fromEntries([...mapped, ...implied]);
  return Object.keys(mapping).length === 0 ? schema : { ...schema, discriminator: { ...discriminator, mapping } };
}

/** `#/components/schemas/City` becomes `#/components/schemas/api-weather.City`, also where a discriminator names it. */
function renameReferences(part: unknown, kind: Kind, product: string): unknown {
  const renamed = (reference: unknown): unknown =>
    typeof reference === 'string' ? reference.replace(/^#\/components\/([^/]+)\/(.+)$/, `#/components/$1/${product}.$2`) : reference;
  if (kind === 'reference') return renamed(part);
  if (!isObject(part)) return part;
  const whole = kind === 'schema' ? withMapping(part) : part;
  const inside = mapParts(whole, kind, (inner, of) => renameReferences(inner, of, product));
  return '$ref' in inside ? { ...inside, $ref: renamed(inside['$ref']) } : inside;
}
