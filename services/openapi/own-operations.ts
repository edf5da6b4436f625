import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { componentKind, isObject, type Json } from './document-parts';
import { gatewayParts, METHODS, withGatewayAnswers } from './product-paths';
import { idsOf, type OwnNames, renameReferences, withOwnLinks } from './rename-parts';
import { ReferenceResolver } from './resolve-references';
import { SoundParts } from './sound-parts';

/** Ours replace these. The upstream's own keys never come from a customer. */
const DROPPED = new Set(['servers', 'security', 'callbacks', 'x-group', 'x-exampleFile']);

/** A part of a product's own document that is left out of ours. */
export interface LeftOut {
  readonly product: string;
  /** The call as customers write it: `GET /weather/{city}`. */
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

/** A tag of the author's document. Our document has the product as the tag instead, because two products may use the same tag. */
export interface OperationGroup {
  readonly name: string;
  readonly description?: string;
}

interface OwnDocument {
  /** The document in its normal form: see `normalForm`. */
  readonly document: unknown;
  readonly baseUrl: string;
  /** Names of the operations described so far. Those of this document are added. */
  readonly taken: Set<string>;
}

/**
 * The operations of a product's own OpenAPI 3 document, as customers call them: below its prefix, with our keys, and with components under
 * names that no other product uses. A broken operation is left out and named.
 */
export function ownOperations(product: CatalogueProduct, { document, baseUrl, taken }: OwnDocument): OwnOperations {
  const { paths = {}, components = {}, tags } = isObject(document) ? document : {};
  const sound = new SoundParts(isObject(components) ? components : {});
  const names = { product: product.id, ids: idsOf(product.id, paths, taken), components };
  const resolver = new ReferenceResolver({ components }, names.ids.byCall.size);
  // Only the parameters' names are read, so the budget of one operation is enough.
  const parameters = new ReferenceResolver({ components }, 1);
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
      const whole = { ...kept, parameters: parametersOf(item, operation, parameters) };
      const problem = sound.problemOf(whole);
      if (problem !== undefined) return leave(`${method.toUpperCase()} ${path}`, problem);
      return [[method, describeOperation(product, { whole, resolver, names, method, own, path, baseUrl })]];
    });
    return [[path, Object.fromEntries(operations) as object]];
  });
  return {
    paths: Object.fromEntries(described) as object,
    components: ownComponents(names, sound),
    leftOut,
    groups: groupsOf(tags),
  };
}

interface Operation {
  /** The operation with the parameters of its path. */
  readonly whole: Json;
  readonly resolver: ReferenceResolver;
  readonly names: OwnNames;
  readonly method: string;
  /** The path in the product's own document. */
  readonly own: string;
  readonly path: string;
  readonly baseUrl: string;
}

function describeOperation(product: CatalogueProduct, { whole, resolver, names, method, own, path, baseUrl }: Operation): Json {
  const named = { operationId: names.ids.byCall.get(`${method} ${own}`), summary: summaryOf(whole, `${method.toUpperCase()} ${path}`) };
  const renamed = renameReferences(whole, 'operation', names) as Json;
  const responses = withGatewayAnswers(isObject(renamed['responses']) ? renamed['responses'] : ANY_ANSWER);
  const resolved = resolver.resolve(whole, 'operation');
  const gateway = gatewayParts(product, isObject(resolved) ? resolved : {}, { method, path, baseUrl });
  const [group] = listOf(whole['tags']);
  return { ...renamed, ...named, responses, ...gateway, ...(typeof group === 'string' && { 'x-group': group }) };
}

const MAX_SUMMARY = 80;

/** The author's summary of an operation. Without one, its id is better than the same words for all. */
function summaryOf({ summary, operationId: id, description }: Json, call: string): string {
  const named = [summary, id, description, call].find((text) => typeof text === 'string' && text.trim() !== '') as string;
  const [line = ''] = named.trim().split('\n');
  return line.length > MAX_SUMMARY && named !== summary ? `${line.slice(0, MAX_SUMMARY)}…` : line;
}

/** The groups that the document describes. Others follow in the order of their operations. */
function groupsOf(tags: unknown): readonly OperationGroup[] {
  return listOf(tags).flatMap((tag) => {
    if (!isObject(tag) || typeof tag['name'] !== 'string') return [];
    const { name, description } = tag;
    return [{ name, ...(typeof description === 'string' && { description }) }];
  });
}

const ANY_ANSWER = { '200': { description: 'The API’s response.' } };

/** Parameters of the path, unless the operation has its own parameter of the same name. */
function parametersOf(item: Json, operation: Json, resolver: ReferenceResolver): readonly unknown[] {
  const nameOf = (parameter: unknown): string => {
    const resolved = resolver.resolve(parameter, 'parameter');
    return isObject(resolved) ? `${String(resolved['in'])} ${String(resolved['name'])}` : '';
  };
  const own = listOf(operation['parameters']);
  const names = new Set(own.map(nameOf));
  return [...listOf(item['parameters']).filter((parameter) => !names.has(nameOf(parameter))), ...own];
}

function ownComponents(own: OwnNames, sound: SoundParts): OwnOperations['components'] {
  const components = isObject(own.components) ? withOwnLinks(own.components, own) : {};
  return Object.fromEntries(
    Object.entries(components).flatMap(([keyword, named]) => {
      if (!isObject(named) || keyword === 'securitySchemes') return [];
      const usable = Object.entries(named).filter(([name]) => sound.isSound(keyword, name));
      const kind = componentKind(keyword);
      return [[keyword, Object.fromEntries(usable.map(([name, value]) => [`${own.product}.${name}`, renameReferences(value, kind, own)]))]];
    }),
  );
}

/** The paths of an upstream that knows its prefix include it already. */
function pathOf(prefix: string, own: string): string {
  if (own === prefix || own.startsWith(`${prefix}/`)) return own;
  return own === '/' ? prefix : prefix + own;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
