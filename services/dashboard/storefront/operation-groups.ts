import { escapeXml } from '../brand/escape-xml';
import { anchorOf } from './markdown';
import { type OperationEntry, type ShownApi } from './shown-api';

/** Operations that belong together. */
export interface OperationGroup {
  /** Undefined: the author gave no group. */
  readonly name: string | undefined;
  readonly description?: string | undefined;
  readonly operations: readonly OperationEntry[];
}

/** The operations of a product in its author's order: those without a group, then each group in the document's order. */
export function groupsOf(api: ShownApi, product: string): readonly OperationGroup[] {
  const described = new Map((api.overview['x-groups'][product] ?? []).map(({ name, description }) => [name, description]));
  const byName = new Map<string | undefined, OperationEntry[]>([undefined, ...described.keys()].map((name) => [name, []]));
  for (const operation of api.entriesOf(product)) {
    const name = operation['x-group'];
    byName.set(name, byName.get(name) ?? []);
    byName.get(name)?.push(operation);
  }
  return [...byName].flatMap(([name, operations]) =>
    operations.length === 0 ? [] : [{ name, description: name === undefined ? undefined : described.get(name), operations }],
  );
}

/** The part of a reference on one page: the operations of one tag (empty for those without one), or a single operation. */
export interface ReferencePart {
  readonly tag?: string | undefined;
  readonly operation?: string | undefined;
  /** Page of a list that is too long for one page, from 1. */
  readonly page?: number | undefined;
}

/** The groups, reduced to a part of the reference. */
export function partOf(groups: readonly OperationGroup[], { tag, operation }: ReferencePart): readonly OperationGroup[] {
  return groups.flatMap((group) => {
    if (tag !== undefined && tag !== (group.name ?? '')) return [];
    const operations = group.operations.filter(({ operationId }) => operation === undefined || operation === operationId);
    return operations.length === 0 ? [] : [{ ...group, operations }];
  });
}

/** Maximum bytes of a list's entries, so that its page has at most 80 KiB. */
const MAX_LIST_BYTES = 56 * 1_024;
/** Bytes of an entry's markup, with some to spare. */
const ENTRY_BYTES = 130;

const bytesOf = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(escapeXml(text)), 0);

/** Entries in their order, as many on each page as fit. */
function paged<Entry>(entries: readonly Entry[], weigh: (entry: Entry) => number): readonly (readonly Entry[])[] {
  const pages: Entry[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    bytes += weigh(entry);
    if (bytes > MAX_LIST_BYTES) {
      pages.push([]);
      bytes = weigh(entry);
    }
    pages.at(-1)?.push(entry);
  }
  return pages;
}

/** Longer descriptions of a group are cut in a list. */
const MAX_WORDS = 1_000;

/** The operations of some groups as lists, page by page. A group that spans several pages is described on the first of them. */
export function listPages(groups: readonly OperationGroup[]): readonly (readonly OperationGroup[])[] {
  const entries = groups.flatMap((group) => group.operations.map((operation, index) => ({ group, operation, isFirst: index === 0 })));
  const weigh = ({ group: { name = '', description = '' }, operation, isFirst }: (typeof entries)[number]): number => {
    const { operationId, path, summary } = operation;
    // A link in the description's Markdown may take more bytes than its text.
    const heading = isFirst ? 2 * bytesOf(name, description.slice(0, MAX_WORDS)) + ENTRY_BYTES : 0;
    return heading + ENTRY_BYTES + bytesOf(operationId, operationId, path, summary);
  };
  return paged(entries, weigh).map((page) =>
    [...new Set(page.map(({ group }) => group))].map((group) => {
      const own = page.filter((entry) => entry.group === group);
      const { description = '' } = group;
      const words = description.length > MAX_WORDS ? `${description.slice(0, MAX_WORDS)}…` : description;
      const isDescribed = own[0]?.isFirst === true && words !== '';
      return { name: group.name, ...(isDescribed && { description: words }), operations: own.map(({ operation }) => operation) };
    }),
  );
}

/** The groups themselves as a list, page by page. */
export function groupPages(groups: readonly OperationGroup[]): readonly (readonly OperationGroup[])[] {
  return paged(groups, ({ name = '' }) => ENTRY_BYTES + bytesOf(name, encodeURIComponent(name)));
}

/** Anchor of a group on its product's page. No operation's name begins like this: see `OPERATION_ID`. */
export const groupAnchor = (name: string): string => `-${anchorOf(name)}`;
