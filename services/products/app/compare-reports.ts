import { z } from 'zod';
import { listOf as sentListOf } from '../../kit/input/list-of';
import { timestampField } from '../../kit/timestamp';
import { apkReport } from './schema';

const listOf = <Entry extends z.ZodType>(entry: Entry) => sentListOf(entry, 'is not as in a report');

const {
  package: packageFacts,
  permissions,
  components,
  signing,
  native_libraries: libraries,
  trackers,
  checked,
  secrets,
} = apkReport.shape;
const { findings, hardening, risk, file, flags } = apkReport.shape;

const app = packageFacts.pick({ name: true, version_name: true, version_code: true, min_sdk: true, target_sdk: true });
const permission = permissions.element;
const component = components.shape.activities.element.pick({ name: true, exported: true, permission: true });
const certificate = signing.shape.certificates.element.pick({ sha256: true, subject: true, debug: true });
const library = libraries.element;
const tracker = trackers.element.pick({ name: true, category: true });
const secret = secrets.element;
const finding = findings.element.pick({ id: true, severity: true, title: true });

/** A score without its method. */
const rating = hardening.pick({ score: true, level: true });

/** The part of a report that is compared. The rest is ignored. */
const comparedReport = z.object({
  file: file.pick({ size: true, sha256: true }),
  package: app,
  permissions: listOf(permission),
  components: z.object({
    activities: listOf(component),
    services: listOf(component),
    receivers: listOf(component),
    providers: listOf(component),
  }),
  flags,
  signing: z.object({ certificates: listOf(certificate) }),
  native_libraries: listOf(library),
  trackers: listOf(tracker),
  /** Absent from reports made before lists had a date. */
  checked: listOf(checked.element).default([]),
  secrets: listOf(secret),
  urls: listOf(z.string()),
  findings: listOf(finding),
  /** Older reports have a single score, and do not say whether everything was searched. */
  hardening: rating.optional(),
  capability: rating.optional(),
  risk: risk.omit({ of: true }).partial({ complete: true }),
});

export type ComparedReport = z.output<typeof comparedReport>;

/** The required members of a report, for the document. Other members are ignored. */
const { properties, required } = z.toJSONSchema(comparedReport, { io: 'input', unrepresentable: 'any' });

const report = z.record(z.string(), z.unknown()).meta({ properties, required }).pipe(comparedReport);

export const compareInput = z.object({
  before: report.describe(
    'The report of the earlier version: `data` of a response of /app/analyze. Each of its lists may have 50,000 entries.',
  ),
  after: report.describe('The report of the later version.'),
});

function changesOf<Entry extends z.ZodType>(entry: Entry) {
  return z.object({
    added: z.array(entry),
    removed: z.array(entry),
    changed: z.array(z.object({ before: entry, after: entry })).describe('In both reports, with a change to more than its name.'),
  });
}

const sides = <Value extends z.ZodType>(value: Value) => z.object({ before: value, after: value });
const ratings = sides(rating.nullable()).describe('Null if that report has a single score for both.').meta({ title: 'AppRatings' });
const kind = z.enum(['activity', 'service', 'receiver', 'provider']);

const comparison = z.object({
  same_file: z.boolean(),
  same_package: z.boolean().describe('False: the names differ, so these are two apps.'),
  package: sides(app),
  size: sides(file.shape.size),
  signer: z.object({ changed: z.boolean(), added: z.array(certificate), removed: z.array(certificate) }),
  flags: z.array(z.object({ name: z.string(), before: z.boolean(), after: z.boolean() })).describe('Flags that changed.'),
  permissions: changesOf(permission.pick({ name: true, protection: true, max_sdk: true })).describe('Permissions that the app requests.'),
  components: changesOf(component.extend({ kind })),
  native_libraries: changesOf(library),
  trackers: changesOf(tracker).extend({
    same_list: z
      .boolean()
      .nullable()
      .describe(
        'False: the reports searched for different lists, so an added tracker may have been there before. Null: a report does not say.',
      ),
  }),
  secrets: changesOf(secret).omit({ changed: true }),
  urls: z.object({ added: z.array(z.string()), removed: z.array(z.string()) }),
  findings: changesOf(finding),
  hardening: ratings,
  capability: ratings,
  risk: sides(
    risk.pick({ score: true, level: true }).extend({
      complete: z.boolean().nullable().describe('False if part of that app was not searched. Null if its report does not say.'),
    }),
  ).extend({
    same_method: z.boolean().describe('False: the scores were computed differently and cannot be compared well.'),
  }),
});

type Comparison = z.output<typeof comparison>;

export const compareOutput = z.object({ status: z.literal('success'), data: comparison, timestamp: timestampField });

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
