import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type ApiDocument } from '../contract/api-document';
import { type OtherSuccess, otherSuccesses, sendersOf } from '../reference/error-codes';
import { firstToTry, NOTHING_DESCRIBED, type Operation, operationsIn, successOf } from './operations';

/** More operations than anybody reads on one page, or in a list beside something else. */
export const MAX_TOGETHER = 60;

/** What lists show of an operation. Its page reads the rest: see {@link ShownApi}. */
export interface OperationEntry extends Pick<Operation, 'operationId' | 'method' | 'path' | 'tags' | 'x-group' | 'summary'> {
  /** Whether the success has an example. */
  readonly hasSample: boolean;
  /** Its beginning and end in the bytes of all operations. */
  readonly bytes: readonly [number, number];
}

/** What pages need of all operations together. */
interface Overview extends Omit<ApiDocument, 'paths' | 'servers' | 'tags'> {
  readonly entries: readonly OperationEntry[];
  /** Products by the code that few products send. */
  readonly senders: Readonly<Record<string, readonly string[]>>;
  readonly otherSuccesses: readonly OtherSuccess[];
  /** The id of the operation that readers try first. */
  readonly tried?: string | undefined;
}

/** What pages show, in bytes: a thread transfers them without a copy, and only what a page shows is ever parsed. */
export interface PackedApi {
  readonly overview: Uint8Array<ArrayBuffer>;
  readonly operations: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function packApi(document: ApiDocument, products: readonly CatalogueProduct[]): PackedApi {
  const operations = operationsIn(document);
  const written = operations.map((operation) => encoder.encode(JSON.stringify(operation)));
  const bytes = new Uint8Array(written.reduce((sum, { length }) => sum + length, 0));
  let begin = 0;
  const entries = operations.map((operation, index): OperationEntry => {
    const { operationId, method, path, tags, summary } = operation;
    const place = [begin, begin + (written[index]?.length ?? 0)] as const;
    bytes.set(written[index] ?? [], begin);
    [, begin] = place;
    const hasSample = successOf(operation)?.sample !== undefined;
    return { operationId, method, path, tags, 'x-group': operation['x-group'], summary, hasSample, bytes: place };
  });
  const overview: Overview = {
    'x-errors': document['x-errors'],
    'x-left-out': document['x-left-out'],
    'x-groups': document['x-groups'],
    entries,
    senders: Object.fromEntries(document['x-errors'].map(({ code }) => [code, sendersOf(document, code)])),
    otherSuccesses: otherSuccesses(document),
    tried: firstToTry({ document, products })?.operationId,
  };
  return { overview: encoder.encode(JSON.stringify(overview)), operations: bytes };
}

/** The API as pages show it. */
export class ShownApi {
  readonly overview: Overview;
  private readonly byProduct = new Map<string, OperationEntry[]>();

  constructor(private readonly packed: PackedApi) {
    this.overview = JSON.parse(decoder.decode(packed.overview)) as Overview;
    for (const entry of this.overview.entries) {
      const known = this.byProduct.get(entry.tags[0]);
      if (known) known.push(entry);
      else this.byProduct.set(entry.tags[0], [entry]);
    }
  }

  read({ bytes: [begin, end] }: OperationEntry): Operation {
    return JSON.parse(decoder.decode(this.packed.operations.subarray(begin, end))) as Operation;
  }

  /** The operation that readers try first. */
  tried(): Operation | undefined {
    const entry = this.find(this.overview.tried);
    return entry && this.read(entry);
  }

  find(operationId: string | undefined): OperationEntry | undefined {
    return this.overview.entries.find((entry) => entry.operationId === operationId);
  }

  /** In the order of the document. */
  entriesOf(product: string): readonly OperationEntry[] {
    return this.byProduct.get(product) ?? [];
  }

  /** The address of an operation: an anchor on its product's page, or a page of its own if there are many. */
  placeOf({ operationId, tags: [product] }: OperationEntry): string {
    return `/reference/${product}${this.entriesOf(product).length > MAX_TOGETHER ? '/' : '#'}${operationId}`;
  }
}

/** Shown while there is no description: the codes of every product, and no operations. */
export const NOTHING_SHOWN = new ShownApi(packApi(NOTHING_DESCRIBED, []));
