import { type ApiDocument, type ApiOperation, type ApiParameter } from '../../../contract/api-document';
import { type Product } from '../../../contract/plans';

/** One operation of the API with its place. */
export interface ListedOperation {
  readonly id: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly operation: ApiOperation;
}

/** A product with its operations, at least one. */
export interface ListedProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly [ListedOperation, ...ListedOperation[]];
}

/** Worth seeing first; else whatever comes first. */
const BEST_FIRST = 'get_ip';

/** Another API's document may name parameters and bodies by reference, or send them in headers: those parts are left to the document. */
function withoutReferences({ requestBody, ...operation }: ApiOperation): ApiOperation {
  const parameters = (operation.parameters ?? []).filter(({ in: place, schema }: Partial<ApiParameter>) => {
    return (place === 'query' || place === 'path') && schema !== undefined;
  });
  const content: unknown = requestBody?.content;
  return { ...operation, parameters, ...(content !== undefined && { requestBody }) };
}

/** The products of the document that have operations, in their order there. */
export function listProducts({ paths }: ApiDocument, products: readonly Product[]): ListedProduct[] {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): ListedOperation[] => {
      // What else the document of another API may have is read in the document itself.
      if (method !== 'get' && method !== 'post') return [];
      return [{ id: operation.operationId, method: method === 'get' ? 'GET' : 'POST', path, operation: withoutReferences(operation) }];
    }),
  );
  return products.flatMap(({ id, title, description }) => {
    const [first, ...others] = all.filter(({ operation }) => operation.tags[0] === id);
    return first ? [{ id, title, description, operations: [first, ...others] as const }] : [];
  });
}

/** The operation with this id, or the one to begin with. Undefined when there are none. */
export function chooseOperation(
  products: readonly ListedProduct[],
  wanted: string | undefined,
): { readonly product: ListedProduct; readonly chosen: ListedOperation } | undefined {
  const all = products.flatMap((product) => product.operations.map((chosen) => ({ product, chosen })));
  return all.find(({ chosen }) => chosen.id === wanted) ?? all.find(({ chosen }) => chosen.id === BEST_FIRST) ?? all[0];
}
