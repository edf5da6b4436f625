import { type Catalogue, type CatalogueProduct } from '../../plugins/core/catalogue/catalogue';
import { componentKind, eachPart, isObject, type Kind, namesIn } from './document-parts';
import { DENIALS_WITHOUT_LINKS } from './error-table';
import { type LeftOut, type OwnOperations, ownOperations } from './own-operations';
import { GATEWAY_RESPONSES, ownSchemes, productPaths } from './product-paths';

const EVERYWHERE = new Set(['headers', 'securitySchemes']);

interface BuiltOperation {
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, { readonly 'x-codes'?: readonly string[] }>>;
}

/** The parts of an OpenAPI document that are read here. All other parts stay as they are. */
export interface ApiDocumentParts {
  readonly info: Readonly<Record<string, unknown>> & { readonly title: string; readonly description?: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, BuiltOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly 'x-errors'?: readonly { readonly code: string; readonly isOwn: boolean }[];
  /** Rules of our own services alone, added to the description if one of them is sold. */
  readonly 'x-conventions'?: string;
}

/** The description of all products together, without the broken parts of the sellers' own documents. */
export interface DescribedApi {
  readonly document: { readonly paths: object };
  readonly leftOut: readonly LeftOut[];
}

/**
 * Describes everything that is sold. Our services are described by what the build wrote, without products that are no longer sold; any
 * other product by its own document, or by its routes if it has none.
 * @param built the build's description of our services
 * @param documents the OpenAPI documents of other products, by product, in their normal form: see `normalForm`
 */
export function describeApi(built: ApiDocumentParts, catalogue: Catalogue, documents: ReadonlyMap<string, unknown>): DescribedApi {
  const ours = new Set(Object.values(built.paths).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags ?? [])));
  const others = catalogue.products.filter(({ id, prefix }) => prefix !== null && !ours.has(id));
  const [{ url } = { url: '' }] = built.servers;
  const taken = new Set(Object.values(built.paths).flatMap((methods) => Object.values(methods).map(({ operationId = '' }) => operationId)));
  const added = others.map((product) => describeOther(product, { document: documents.get(product.id), baseUrl: url, taken }));
  const offered = catalogue.products.filter(({ prefix }) => prefix !== null);
  const leftOut = added.flatMap((each) => each.leftOut);
  const groups = added.flatMap((each, index) => (each.groups.length > 0 ? [[others[index]?.id ?? '', each.groups] as const] : []));
  const sold = soldPaths(built, catalogue);
  const paths = Object.assign({}, sold, ...added.map((each) => each.paths)) as object;
  const components = added.reduce<ApiDocumentParts['components']>((all, each) => mergeComponents(all, each.components), {
    ...built.components,
    responses: { ...built.components['responses'], ...GATEWAY_RESPONSES },
    securitySchemes: { ...built.components['securitySchemes'], ...ownSchemes(offered) },
  });
  const { 'x-conventions': conventions, ...rest } = built;
  const { description } = built.info;
  const document = {
    ...rest,
    info: { ...built.info, ...(sellsOurs(sold) && conventions !== undefined && { description: `${description ?? ''}\n\n${conventions}` }) },
    tags: offered.map(({ id, title, description }) => ({ name: id, description: `${title}. ${description}` })),
    paths,
    components: usedComponents(paths, components),
    'x-errors': soldErrors(built, sold),
    // The tags of each product's own document. Its operations name theirs in `x-group`.
    ...(groups.length > 0 && { 'x-groups': Object.fromEntries(groups) }),
    // For readers of the reference. Only the seller sees the reasons.
    ...(leftOut.length > 0 && { 'x-left-out': leftOut.map(({ product, operation }) => ({ product, operation })) }),
  };
  return { document, leftOut };
}

function describeOther(product: CatalogueProduct, own: Parameters<typeof ownOperations>[1]): OwnOperations {
  if (own.document === undefined) return { paths: productPaths(product, own), components: {}, leftOut: [], groups: [] };
  return ownOperations(product, own);
}

function soldPaths({ paths }: ApiDocumentParts, catalogue: Catalogue): ApiDocumentParts['paths'] {
  return Object.fromEntries(
    Object.entries(paths).filter(([, methods]) =>
      Object.values(methods).every(({ tags: [id = ''] = [] }) => catalogue.find(id) !== undefined),
    ),
  );
}

function codesIn(paths: ApiDocumentParts['paths']): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return new Set(operations.flatMap(({ responses = {} }) => Object.values(responses).flatMap((each) => each['x-codes'] ?? [])));
}

const sellsOurs = (sold: ApiDocumentParts['paths']): boolean => Object.keys(sold).length > 0;

/** Sent before an API is called, and therefore by all products. */
const SENT_BEFORE: ReadonlySet<string> = new Set([...DENIALS_WITHOUT_LINKS, 'gateway_error']);

/**
 * The codes that the sold products can send. A code of certain products is left out when no operation declares it any more. The codes that
 * all our services send are left out when none of our services is sold.
 */
function soldErrors({ 'x-errors': errors = [], paths }: ApiDocumentParts, sold: ApiDocumentParts['paths']): ApiDocumentParts['x-errors'] {
  const [declared, sent] = [codesIn(paths), codesIn(sold)];
  const isSent = (code: string): boolean => sent.has(code) || (!declared.has(code) && sellsOurs(sold));
  const ofAll = (code: string): boolean => SENT_BEFORE.has(code) || (code === 'link_not_valid' ? isSent(code) : sellsOurs(sold));
  return errors.filter(({ code, isOwn }) => (isOwn ? isSent(code) : ofAll(code)));
}

function mergeComponents(all: ApiDocumentParts['components'], more: ApiDocumentParts['components']): ApiDocumentParts['components'] {
  const kinds = new Set([...Object.keys(all), ...Object.keys(more)]);
  return Object.fromEntries([...kinds].map((kind) => [kind, { ...all[kind], ...more[kind] }]));
}

/**
 * Components that paths refer to, directly or not, so that a product that is not sold leaves no schemas behind. Headers and keys belong to
 * every operation.
 */
function usedComponents(paths: object, all: ApiDocumentParts['components']): ApiDocumentParts['components'] {
  const used = new Set<unknown>();
  const waiting: [unknown, Kind][] = [[{ paths, components: { headers: all['headers'] } }, 'document']];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [part, kind] = next;
    const reference = isObject(part) ? part['$ref'] : part;
    const [, section = '', name = ''] = typeof reference === 'string' ? namesIn(reference) : [];
    const component = all[section]?.[name];
    if (component !== undefined && !used.has(component)) waiting.push([component, componentKind(section)]);
    used.add(component);
    if (isObject(part)) eachPart(part, kind, (...inner) => waiting.push([inner[0], inner[1]]));
  }
  const isUsed = (kind: string, component: unknown): boolean => EVERYWHERE.has(kind) || used.has(component);
  return Object.fromEntries(
    Object.entries(all).map(([kind, named]) => [
      kind,
      Object.fromEntries(Object.entries(named).filter(([, component]) => isUsed(kind, component))),
    ]),
  );
}
