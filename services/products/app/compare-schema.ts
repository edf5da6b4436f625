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

export const comparison = z.object({
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

export type Comparison = z.output<typeof comparison>;

export const compareOutput = z.object({ status: z.literal('success'), data: comparison, timestamp: timestampField });
