import { type CatalogueProduct } from '../../plugins/core/selling/catalogue';
import { gatewayParts, operationId } from './product-paths';

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];
/** Ours are the ones that count: the upstream's own keys never reach it from a customer. */
const DROPPED = new Set(['servers', 'security', 'callbacks']);

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The operations of a product's own OpenAPI 3 document, as customers reach them: below its prefix, with our keys, and with components under
 * names that no other product has.
 */
export function ownOperations(
  { id, prefix, description }: CatalogueProduct,
  { document, baseUrl }: { document: unknown; baseUrl: string },
): { paths: object; components: Readonly<Record<string, Json>> } {
  const { paths = {}, components = {} } = isObject(document) ? document : {};
  const renamed = (value: unknown): unknown => renameReferences(value, id);
  return {
    paths: Object.fromEntries(
      Object.entries(isObject(paths) ? paths : {}).flatMap(([own, item]) => {
        if (!isObject(item) || !own.startsWith('/')) return [];
        const path = pathOf(prefix ?? '', own);
        const operations = METHODS.flatMap((method) => {
          const operation = item[method];
          if (!isObject(operation)) return [];
          const kept = Object.fromEntries(Object.entries(operation).filter(([name]) => !DROPPED.has(name)));
          const shared = { parameters: [...listOf(item['parameters']), ...listOf(operation['parameters'])] };
          const named = { operationId: operationId(id, method, own), summary: kept['summary'] ?? description };
          const responses = { responses: kept['responses'] ?? { '200': { description: 'What the API answers.' } } };
          const merged = { ...(renamed({ ...kept, ...shared, ...responses }) as Json), ...named };
          return [[method, { ...merged, ...gatewayParts(id, { method, path, baseUrl }) }]];
        });
        return [[path, Object.fromEntries(operations) as object]];
      }),
    ),
    components: Object.fromEntries(
      Object.entries(isObject(components) ? components : {}).flatMap(([kind, named]) => {
        if (!isObject(named) || kind === 'securitySchemes') return [];
        return [[kind, Object.fromEntries(Object.entries(named).map(([name, value]) => [`${id}.${name}`, renamed(value)]))]];
      }),
    ),
  };
}

/** An upstream that knows its prefix has it in its paths already. */
function pathOf(prefix: string, own: string): string {
  if (own === prefix || own.startsWith(`${prefix}/`)) return own;
  return own === '/' ? prefix : prefix + own;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** `#/components/schemas/City` becomes `#/components/schemas/api-weather.City`. */
function renameReferences(value: unknown, product: string): unknown {
  if (Array.isArray(value)) return value.map((each) => renameReferences(each, product));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string'
        ? member.replace(/^#\/components\/([^/]+)\/(.+)$/, `#/components/$1/${product}.$2`)
        : renameReferences(member, product),
    ]),
  );
}
