import { isObject, type Json, type Kind, mapParts, namesIn, valueAt } from './document-parts';
import { METHODS, operationId } from './product-paths';

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
export function idsOf(product: string, paths: unknown, taken: Set<string>): OperationIds {
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
export interface OwnNames {
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
export function withOwnLinks(part: Json, names: OwnNames): Json {
  const { links, ...rest } = part;
  if (!isObject(links)) return part;
  return { ...rest, links: Object.fromEntries(Object.entries(links).filter(([, link]) => linkedOperation(link, names) !== undefined)) };
}

/** `#/components/schemas/City` becomes `#/components/schemas/api-weather.City`, in a discriminator too. */
export function renameReferences(part: unknown, kind: Kind, names: OwnNames): unknown {
  const renamed = (reference: unknown): unknown =>
    typeof reference === 'string' ? reference.replace(/^#\/components\/([^/]+)\/(.+)$/, `#/components/$1/${names.product}.$2`) : reference;
  if (kind === 'reference') return renamed(part);
  if (!isObject(part)) return part;
  const inside = mapParts(kind === 'response' ? withOwnLinks(part, names) : part, kind, (inner, of) => renameReferences(inner, of, names));
  if ('$ref' in inside) return { ...inside, $ref: renamed(inside['$ref']) };
  return kind === 'link' ? { ...inside, operationId: linkedOperation(inside, names) } : inside;
}
