import { type ApiDocument } from '../contract/api-document';
import { anchorOf } from './markdown';
import { type Operation, operationsIn } from './operations';

/** Operations that belong together. */
export interface OperationGroup {
  /** Undefined: their author has given them none. */
  readonly name: string | undefined;
  readonly description?: string | undefined;
  readonly operations: readonly Operation[];
}

/** The operations of a product as their author has them: those without a group, then each group in the order of its document. */
export function groupsOf(document: ApiDocument, product: string): readonly OperationGroup[] {
  const own = operationsIn(document).filter(({ tags }) => tags[0] === product);
  const described = new Map((document['x-groups'][product] ?? []).map(({ name, description }) => [name, description]));
  const names = new Set([undefined, ...described.keys(), ...own.map((operation) => operation['x-group'])]);
  return [...names].flatMap((name) => {
    const operations = own.filter((operation) => operation['x-group'] === name);
    return operations.length === 0 ? [] : [{ name, description: name === undefined ? undefined : described.get(name), operations }];
  });
}

/** The part of a reference on one page: the operations of one tag, empty for those without one, or a single operation. */
export interface ReferencePart {
  readonly tag?: string | undefined;
  readonly operation?: string | undefined;
}

/** The groups with what belongs to a part of the reference. */
export function partOf(groups: readonly OperationGroup[], { tag, operation }: ReferencePart): readonly OperationGroup[] {
  return groups.flatMap((group) => {
    if (tag !== undefined && tag !== (group.name ?? '')) return [];
    const operations = group.operations.filter(({ operationId }) => operation === undefined || operation === operationId);
    return operations.length === 0 ? [] : [{ ...group, operations }];
  });
}

/** More operations than anybody reads on one page, or in a list beside something else. */
export const MAX_TOGETHER = 60;

/** Anchor of a group on the page of its product. No operation's name begins so: see `OPERATION_ID`. */
export const groupAnchor = (name: string): string => `-${anchorOf(name)}`;
