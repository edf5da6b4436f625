import { type Comparison, type ComparedReport } from './compare-schema';

interface Changes<Entry> {
  readonly added: Entry[];
  readonly removed: Entry[];
  readonly changed: { readonly before: Entry; readonly after: Entry }[];
}

/** Entries contain only texts, numbers and booleans, and have their members in the order of one schema. */
const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

/** @param keyOf identifies an entry; of several entries with one key, the first counts */
function compareLists<Entry extends object>(
  before: readonly Entry[],
  after: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Changes<Entry> {
  const byKey = (list: readonly Entry[]): Map<string, Entry> => new Map(list.toReversed().map((each) => [keyOf(each), each]));
  const [old, recent] = [byKey(before), byKey(after)];
  const inOrder = (list: readonly Entry[], known: Map<string, Entry>): Entry[] => list.filter((each) => known.get(keyOf(each)) === each);
  const [oldOnes, recentOnes] = [inOrder(before, old), inOrder(after, recent)];
  return {
    added: recentOnes.filter((each) => !old.has(keyOf(each))),
    removed: oldOnes.filter((each) => !recent.has(keyOf(each))),
    changed: recentOnes.flatMap((each) => {
      const was = old.get(keyOf(each));
      return was && !isSame(was, each) ? [{ before: was, after: each }] : [];
    }),
  };
}

type Component = Comparison['components']['added'][number];

function componentsOf({ components }: ComparedReport): Component[] {
  const { activities, services, receivers, providers } = components;
  return [
    ...activities.map((each) => ({ ...each, kind: 'activity' as const })),
    ...services.map((each) => ({ ...each, kind: 'service' as const })),
    ...receivers.map((each) => ({ ...each, kind: 'receiver' as const })),
    ...providers.map((each) => ({ ...each, kind: 'provider' as const })),
  ];
}

/** The permissions that an app requests. Permissions that it declares for other apps are left out. */
function requestsOf({ permissions }: ComparedReport): Comparison['permissions']['added'] {
  return permissions.filter(({ requested }) => requested).map(({ name, protection, max_sdk }) => ({ name, protection, max_sdk }));
}

/** Null when a report does not name the list that its trackers were searched with. */
function isSameList(before: ComparedReport, after: ComparedReport): boolean | null {
  const dayOf = ({ checked }: ComparedReport): string | undefined => checked.find(({ source }) => source === 'tracker_list')?.as_of;
  const [old, recent] = [dayOf(before), dayOf(after)];
  return old === undefined || recent === undefined ? null : old === recent;
}

function changedFlags(before: ComparedReport['flags'], after: ComparedReport['flags']): Comparison['flags'] {
  const names = ['debuggable', 'allow_backup', 'uses_cleartext', 'test_only'] as const;
  return names.flatMap((name) => (before[name] === after[name] ? [] : [{ name, before: before[name], after: after[name] }]));
}

function compareSigners(before: ComparedReport, after: ComparedReport): Comparison['signer'] {
  const { added, removed } = compareLists(before.signing.certificates, after.signing.certificates, ({ sha256 }) => sha256);
  return { changed: added.length + removed.length > 0, added, removed };
}

/** A secret is identified by all that the report has about it, so a secret never counts as changed. */
function compareSecrets(before: ComparedReport, after: ComparedReport): Comparison['secrets'] {
  const { added, removed } = compareLists(before.secrets, after.secrets, (each) => JSON.stringify(each));
  return { added, removed };
}

function compareTexts(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  const [old, recent] = [new Set(before), new Set(after)];
  return { added: [...recent].filter((each) => !old.has(each)), removed: [...old].filter((each) => !recent.has(each)) };
}

/** The differences between two reports. Nothing is looked up and no file is opened. */
export function compareReports(before: ComparedReport, after: ComparedReport): Comparison {
  const scoreOf = ({ risk: { score, level, complete } }: ComparedReport): Comparison['risk']['before'] => ({
    score,
    level,
    complete: complete ?? null,
  });
  return {
    same_file: before.file.sha256 === after.file.sha256,
    same_package: before.package.name === after.package.name,
    package: { before: before.package, after: after.package },
    size: { before: before.file.size, after: after.file.size },
    signer: compareSigners(before, after),
    flags: changedFlags(before.flags, after.flags),
    permissions: compareLists(requestsOf(before), requestsOf(after), ({ name }) => name),
    components: compareLists(componentsOf(before), componentsOf(after), ({ kind, name }) => `${kind} ${name}`),
    native_libraries: compareLists(before.native_libraries, after.native_libraries, ({ abi, name }) => `${abi}/${name}`),
    trackers: { ...compareLists(before.trackers, after.trackers, ({ name }) => name), same_list: isSameList(before, after) },
    secrets: compareSecrets(before, after),
    urls: compareTexts(before.urls, after.urls),
    findings: compareLists(before.findings, after.findings, ({ id }) => id),
    hardening: { before: before.hardening ?? null, after: after.hardening ?? null },
    capability: { before: before.capability ?? null, after: after.capability ?? null },
    risk: { before: scoreOf(before), after: scoreOf(after), same_method: before.risk.method === after.risk.method },
  };
}
