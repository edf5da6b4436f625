import { join } from 'node:path';
import { runInThread } from '../../kit/run-in-thread';
import { readCatalogueRevision } from '../../selling/catalogue/read-catalogue';
import { readDocumentTexts } from '../../selling/catalogue/product-documents';
import { type DashboardDeps } from '../http/dashboard-deps';
import { askSeldom } from '../http/serve-document';
import { type Description, type DescriptionInput } from './description';

/** A document of 13 MB takes 9 s of CPU on a slow machine, and one of 20,000 paths 24 s. */
const BOUNDS = { deadlineMs: 120_000, heapMebibytes: 1_024, tooMuch: 'the description takes more memory or time than it may' };

/** Makes the description in its own thread: long documents take seconds, during which nobody else would get a response. */
export const describeInThread = (input: DescriptionInput): Promise<Description> =>
  runInThread(join(__dirname, 'description-thread'), input, BOUNDS);

/** The description and its revision. */
export interface DescriptionSource {
  /** Asked once a second at most. */
  readonly revision: () => Promise<string>;
  /** @throws Error while it cannot be made */
  readonly read: () => Promise<Description>;
}

export interface DescriptionOptions {
  /** The text that the build wrote. */
  readonly readBuilt: () => string;
  /** The name of the installation. */
  readonly title: () => string;
  readonly describe: (input: DescriptionInput) => Promise<Description>;
}

/** Makes the description once for each revision of the catalogue, for everybody who needs it. A failure is not kept. */
export function keepDescription({ db, catalogue, clock, log }: DashboardDeps, options: DescriptionOptions): DescriptionSource {
  const { readBuilt, title, describe } = options;
  const askRevision = askSeldom(() => readCatalogueRevision(db), clock);
  const revision = async (): Promise<string> => `${await askRevision()} ${title()}`;
  let kept: { readonly revision: string; readonly made: Promise<Description> } | undefined;

  /** If the documents exceed the bounds, the other products must not suffer: then all are described by their routes. */
  const describeAll = (input: DescriptionInput): Promise<Description> =>
    describe(input).catch((error: unknown) => {
      if (input.documents.size === 0) throw error;
      log.error({ err: error }, 'products’ own OpenAPI documents cannot be described, and are left out');
      return describe({ ...input, documents: new Map() });
    });

  const make = async (): Promise<Description> => {
    const built = readBuilt();
    const { products } = await catalogue();
    const description = await describeAll({ built, title: title(), products, documents: await readDocumentTexts(db) });
    for (const each of description.leftOut) log.warn(each, 'an operation of a product’s own OpenAPI document is broken and left out');
    return description;
  };

  return {
    revision,
    read: async () => {
      const current = await revision();
      if (kept?.revision !== current) kept = { revision: current, made: make() };
      const mine = kept;
      try {
        return await mine.made;
      } catch (error) {
        if (kept === mine) kept = undefined;
        throw error;
      }
    },
  };
}
