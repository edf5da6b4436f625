import { readFile, stat } from 'node:fs/promises';
import { type IpAddress } from '../../../../plugins/core/access/ip-address';
import { type DataFile } from '../ip-databases';
import { LIST_DEFINITIONS, type ListDefinition, type ListedAs } from './list-definitions';
import { listPath, parseListFile } from './list-file';
import { createNetworkSet, type NetworkSet } from './network-set';
import { codeOf } from '../../../kit/error-code';

const DAY_MS = 86_400_000;

/** The lists on disk, in their present versions. */
export interface AddressLists {
  /** Every list that contains the address. */
  find(address: IpAddress): readonly { readonly says: ListedAs; readonly source: string }[];
  /** Whether there is a list that says this about addresses. */
  has(says: ListedAs): boolean;
  /** Whether there is a complete list, recent enough to conclude that an address is not on it. @param nowMs Unix milliseconds */
  knowsAll(says: ListedAs, nowMs: number): boolean;
  /** The lists in use, with the dates of their data. */
  describe(): readonly DataFile[];
  /** Looks at every file now instead of at the next poll. */
  checkForChanges(): Promise<void>;
  close(): void;
}

export interface AddressListsOptions {
  readonly folder: string;
  /** Ids of lists that are not used even if their files exist. */
  readonly off: readonly string[];
  /** Milliseconds between two looks at the files; 0 never looks. */
  readonly pollMs: number;
  /** Called when a file cannot be used. The version in memory stays in use. */
  readonly onError: (path: string, cause: unknown) => void;
}

interface LoadedList {
  readonly definition: ListDefinition;
  readonly fingerprint: string;
  readonly asOf: Date;
  readonly networks: NetworkSet;
}

async function fingerprintOf(path: string): Promise<string | undefined> {
  try {
    const { ino, mtimeMs, size } = await stat(path);
    return `${ino}:${mtimeMs}:${size}`;
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw cause;
  }
}

/** Reads the lists that exist, and looks for others from time to time: a new file is used, a removed file no longer is. */
export async function openAddressLists({ folder, off, pollMs, onError }: AddressListsOptions): Promise<AddressLists> {
  const loaded = new Map<string, LoadedList>();
  const definitions = LIST_DEFINITIONS.filter(({ id }) => !off.includes(id));

  const check = async (definition: ListDefinition): Promise<void> => {
    const path = listPath(folder, definition.id);
    try {
      const fingerprint = await fingerprintOf(path);
      if (fingerprint === undefined) return void loaded.delete(definition.id);
      if (loaded.get(definition.id)?.fingerprint === fingerprint) return;
      const { asOf, networks } = parseListFile(await readFile(path));
      loaded.set(definition.id, { definition, fingerprint, asOf, networks: await createNetworkSet(networks) });
    } catch (cause) {
      onError(path, cause);
    }
  };
  const checkForChanges = async (): Promise<void> => {
    for (const definition of definitions) await check(definition);
  };
  await checkForChanges();
  const timer = pollMs > 0 ? setInterval(() => void checkForChanges(), pollMs).unref() : undefined;

  const inOrder = (): LoadedList[] => definitions.flatMap(({ id }) => loaded.get(id) ?? []);
  return {
    find: (address) =>
      inOrder()
        .filter(({ networks }) => networks.has(address))
        .map(({ definition: { id: source, says } }) => ({ source, says })),
    knowsAll: (says, nowMs) =>
      inOrder().some(
        ({ definition, asOf }) => definition.says === says && nowMs - asOf.getTime() <= (definition.completeForDays ?? -1) * DAY_MS,
      ),
    has: (says) => inOrder().some(({ definition }) => definition.says === says),
    describe: () => inOrder().map(({ definition: { id: source }, asOf: builtAt }) => ({ source, builtAt })),
    checkForChanges,
    close: () => clearInterval(timer),
  };
}
