import { isObject, type Json, type Kind, mapParts, namesIn, valueAt } from './document-parts';
import { METHODS, operationId } from './product-paths';

/** A name that leads to one place of the reference, and that generated clients can use. */
const OPERATION_ID = /^[A-Za-z][\w.-]{0,99}$/;

/** What operations are called here. */
interface OperationIds {
  /** Operations by method and path of their own document: `get /days`. */
  readonly byCall: ReadonlyMap<string, string>;
  /** Operations by their author's names, as links have them. */
  readonly byName: ReadonlyMap<string, string>;
}

/**
 * Authors' names stay, unless another operation has it already.
 * @param taken names of the operations described before; those of this document are added
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

/** What parts of a product's own document are called in ours. */
export interface OwnNames {
  readonly product: string;
  readonly ids: OperationIds;
  readonly components: unknown;
}

/** The operation of a link, under its name here; undefined where its document describes none. */
function linkedOperation(link: unknown, { ids, components }: OwnNames): string | undefined {
  const whole = isObject(link) && typeof link['$ref'] === 'string' ? valueAt({ components }, namesIn(link['$ref'])) : link;
  return isObject(whole) && typeof whole['operationId'] === 'string' ? ids.byName.get(whole['operationId']) : undefined;
}

/** Leaves out links that lead to no operation of the document: another product may have one under that name. */
export function withOwnLinks(part: Json, names: OwnNames): Json {
  const { links, ...rest } = part;
  if (!isObject(links)) return part;
  return { ...rest, links: Object.fromEntries(Object.entries(links).filter(([, link]) => linkedOperation(link, names) !== undefined)) };
}

/** `#/components/schemas/City` becomes `#/components/schemas/api-weather.City`, also where a discriminator names it. */
export function renameReferences(part: unknown, kind: Kind, names: OwnNames): unknown {
  const renamed = (reference: unknown): unknown =>
    typeof reference === 'string' ? reference.replace(/^#\/components\/([^/]+)\/(.+)$/, `#/components/$1/${names.product}.$2`) : reference;
  if (kind === 'reference') return renamed(part);
  if (!isObject(part)) return part;
  const inside = mapParts(kind === 'response' ? withOwnLinks(part, names) : part, kind, (inner, of) => renameReferences(inner, of, names));
  if ('$ref' in inside) return { ...inside, $ref: renamed(inside['$ref']) };
  return kind === 'link' ? { ...inside, operationId: linkedOperation(inside, names) } : inside;
}
