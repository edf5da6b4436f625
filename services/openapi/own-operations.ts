import { type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { componentKind, isObject, type Json, eachPart, type Kind, namesIn, valueAt, mapParts } from './document-parts';
import { gatewayParts, METHODS, withGatewayAnswers, operationId } from './product-paths';
import { ReferenceResolver } from './resolve-references';

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
interface OperationGroup {
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

/** Deeper than descriptions are, and far below the depth at which a reader's stack ends. */
const DEEPEST = 100;

/** What a part of a document refers to, and the first problem in it. */
interface Findings {
  /** Components, as `kind/name`. */
  readonly targets: Set<string>;
  problem?: string;
}

/** Decides which parts of an OpenAPI document can be used, so that a broken part costs only itself and whatever refers to it. */
class SoundParts {
  private readonly broken: Set<string>;

  /** @param all the document's components, by kind and name */
  constructor(private readonly all: Json) {
    const found = new Map<string, Findings>();
    eachPart(all, 'components', (value, kind, { keyword, name = '' }) => found.set(`${keyword}/${name}`, this.look(value, kind)));
    this.broken = new Set([...found].flatMap(([component, { problem }]) => (problem === undefined ? [] : [component])));
    // The loop also visits names that it adds, so it ends when nothing else refers to a broken component.
    for (const name of this.broken) {
      for (const [component, { targets }] of found) if (targets.has(name)) this.broken.add(component);
    }
  }

  isSound(kind: string, name: string): boolean {
    return !this.broken.has(`${kind}/${name}`);
  }

  /** @returns why this operation cannot be described; undefined when it can */
  problemOf(operation: Json): string | undefined {
    const { targets, problem } = this.look(operation, 'operation');
    if (problem !== undefined) return problem;
    return [...targets].some((target) => this.broken.has(target)) ? 'a $ref in it refers to a component that cannot be used' : undefined;
  }

  private look(part: unknown, kind: Kind): Findings {
    const findings: Findings = { targets: new Set() };
    this.walk(part, kind, { depth: 0, findings });
    return findings;
  }

  private walk(part: unknown, kind: Kind, { depth, findings }: { readonly depth: number; readonly findings: Findings }): void {
    if (!isObject(part)) return;
    if (depth > DEEPEST) return void (findings.problem ??= `it is nested more than ${DEEPEST} deep`);
    if ('$ref' in part) this.follow(part['$ref'], findings);
    eachPart(part, kind, (inner, of) => this.walk(inner, of, { depth: depth + 1, findings }));
  }

  private follow(reference: unknown, findings: Findings): void {
    if (typeof reference !== 'string') return void (findings.problem ??= 'a $ref in it is not a text');
    const [place, kind, ...names] = namesIn(reference);
    if (!reference.startsWith('#'))
      return void (findings.problem ??= `a $ref in it refers outside the document: ${reference.slice(0, 80)}`);
    const isHere = place === 'components' && kind !== undefined && kind !== 'securitySchemes';
    const component = `${kind}/${names[0]}`;
    if (!isHere || valueAt(this.all, [kind, ...names]) === undefined)
      return void (findings.problem ??= `a $ref in it leads nowhere: ${reference.slice(0, 80)}`);
    findings.targets.add(component);
  }
}

/** An id that can be part of a page's address, and that generated clients can use. */
const OPERATION_ID = /^[A-Za-z][\w.-]{0,99}$/;

/** The ids of a document's operations in our document. */
interface OperationIds {
  /** By method and path in their own document: `get /days`. */
  readonly byCall: ReadonlyMap<string, string>;
  /** By the authors' ids, which links use. */
  readonly byName: ReadonlyMap<string, string>;
}

/**
 * Authors' ids stay, unless another operation has the id already.
 * @param taken ids of the operations described so far; those of this document are added
 */
function idsOf(product: string, paths: unknown, taken: Set<string>): OperationIds {
  const byCall = new Map<string, string>();
  const byName = new Map<string, string>();
  for (const [path, item] of Object.entries(isObject(paths) ? paths : {})) {
    for (const [method, operation] of Object.entries(isObject(item) ? item : {})) {
      if (!METHODS.has(method) || !isObject(operation)) continue;
      const given = operation['operationId'];
      const isName = typeof given === 'string' && OPERATION_ID.test(given) && !taken.has(given);
      const id = isName ? given : operationId(product, { method, path }, taken);
      taken.add(id);
      byCall.set(`${method} ${path}`, id);
      if (typeof given === 'string' && !byName.has(given)) byName.set(given, id);
    }
  }
  return { byCall, byName };
}

/** New names for the parts of a product's own document. */
interface OwnNames {
  readonly product: string;
  readonly ids: OperationIds;
  readonly components: unknown;
}

/** A link's operation under its new id; undefined if its document has no such operation. */
function linkedOperation(link: unknown, { ids, components }: OwnNames): string | undefined {
  const whole = isObject(link) && typeof link['$ref'] === 'string' ? valueAt({ components }, namesIn(link['$ref'])) : link;
  return isObject(whole) && typeof whole['operationId'] === 'string' ? ids.byName.get(whole['operationId']) : undefined;
}

/** Leaves out links to operations that are not in their document: another product may have an operation of the same id. */
function withOwnLinks(part: Json, names: OwnNames): Json {
  const { links, ...rest } = part;
  if (!isObject(links)) return part;
  return { ...rest, links: Object.fromEntries(Object.entries(links).filter(([, link]) => linkedOperation(link, names) !== undefined)) };
}

/** `#/components/schemas/City` becomes `#/components/schemas/api-weather.City`, in a discriminator too. */
function renameReferences(part: unknown, kind: Kind, names: OwnNames): unknown {
  const renamed = (reference: unknown): unknown =>
    typeof reference === 'string' ? reference.replace(/^#\/components\/([^/]+)\/(.+)$/, `#/components/$1/${names.product}.$2`) : reference;
  if (kind === 'reference') return renamed(part);
  if (!isObject(part)) return part;
  const inside = mapParts(kind === 'response' ? withOwnLinks(part, names) : part, kind, (inner, of) => renameReferences(inner, of, names));
  if ('$ref' in inside) return { ...inside, $ref: renamed(inside['$ref']) };
  return kind === 'link' ? { ...inside, operationId: linkedOperation(inside, names) } : inside;
}
