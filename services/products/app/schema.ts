import { z } from 'zod';
import { instantWords, timestampField } from '../../kit/timestamp';

const count = z.number().int().nonnegative();
const verdict = z.object({ present: z.boolean(), verified: z.boolean(), error: z.string().nullable() }).meta({ title: 'AppSignature' });

const component = z
  .object({
    name: z.string(),
    exported: z.boolean(),
    explicit: z.boolean().describe('False when it follows from the platform’s defaults.'),
    permission: z.string().nullable(),
    intent_filters: z.array(
      z.object({ actions: z.array(z.string()), categories: z.array(z.string()), data: z.array(z.record(z.string(), z.string())) }),
    ),
  })
  .meta({ title: 'AppComponent' });

const networkSecurity = z.object({
  config_file: z.string().nullable(),
  cleartext_permitted: z.boolean(),
  trusts_user_certificates: z.boolean(),
  base_config: z.object({ cleartext_permitted: z.boolean().nullable(), trust_anchors: z.array(z.string()).nullable() }).nullable(),
  domains: z.array(
    z.object({
      domains: z.array(z.object({ name: z.string(), include_subdomains: z.boolean() })),
      cleartext_permitted: z.boolean().nullable(),
      trust_anchors: z.array(z.string()).nullable(),
      pins: count,
      pin_expiration: z.string().nullable(),
    }),
  ),
  debug_overrides: z.object({ trust_anchors: z.array(z.string()) }).nullable(),
});

const certificate = z.object({
  subject: z.string(),
  issuer: z.string(),
  serial: z.string(),
  not_before: z.string(),
  not_after: z.string(),
  sha256: z.string(),
  key: z.string(),
  sig_alg: z.string(),
  debug: z.boolean(),
});

const scoreName = z.enum(['hardening', 'capability']);

const rating = {
  score: z.number().min(0).max(100).describe('100 is worst.'),
  level: z.enum(['low', 'medium', 'high', 'critical']).describe('Below 20 low, below 50 medium, below 75 high.'),
  method: z.string(),
};

const score = z.object({
  ...rating,
  inputs: z.array(z.object({ id: z.string(), weight: z.number() })).describe('The findings that contribute to it.'),
});

/** The worker's report on one APK. Every figure is about the file itself. */
export const apkReport = z.object({
  form: z.enum(['apk', 'aab', 'xapk', 'apks']).describe('The kind of the upload, recognised by its contents.'),
  parts: z
    .array(
      z.object({
        name: z.string(),
        kind: z.enum(['base', 'module', 'split', 'expansion', 'other']),
        size: count,
        analyzed: z.boolean().describe('False: listed only.'),
      }),
    )
    .describe('Modules of a bundle or files of a set of APKs; empty for an APK.'),
  file: z.object({ name: z.string(), size: count, md5: z.string(), sha1: z.string(), sha256: z.string() }),
  package: z.object({
    name: z.string(),
    label: z.string().nullable(),
    labels: z.record(z.string(), z.string()).describe('By locale, `default` for the one without.'),
    version_name: z.string().nullable(),
    version_code: z.number().nullable(),
    min_sdk: z.number().nullable(),
    target_sdk: z.number().nullable(),
    max_sdk: z.number().nullable(),
    main_activity: z.string().nullable(),
  }),
  permissions: z.array(
    z.object({
      name: z.string(),
      protection: z.enum(['normal', 'dangerous', 'signature', 'special', 'internal', 'unknown']),
      max_sdk: z.number().nullable(),
      declared_by_app: z.boolean(),
      requested: z.boolean().describe('False: declared for other apps only.'),
    }),
  ),
  components: z.object({
    activities: z.array(component),
    services: z.array(component),
    receivers: z.array(component),
    providers: z.array(component),
  }),
  flags: z.object({ debuggable: z.boolean(), allow_backup: z.boolean(), uses_cleartext: z.boolean(), test_only: z.boolean() }),
  network_security: networkSecurity,
  signing: z.object({ v1: verdict, v2: verdict, v3: verdict, v31: verdict, certificates: z.array(certificate) }),
  native_abis: z.array(z.string()),
  native_libraries: z.array(z.object({ name: z.string(), abi: z.string(), size: count })).describe('By name, then ABI; sizes unpacked.'),
  dex: z.array(z.object({ name: z.string(), version: z.string(), classes: count, methods: count, checksum_ok: z.boolean() })),
  trackers: z.array(z.object({ name: z.string(), category: z.string(), matched: z.string() })),
  checked: z
    .array(
      z.object({
        source: z.enum(['tracker_list', 'secret_rules', 'code_signs']),
        as_of: z.string().describe(instantWords('Time when the source was asked, or date of its data')),
        ok: z.boolean(),
        entries: count,
      }),
    )
    .describe(
      'What the app was searched for: the trackers of a list, secrets by rules, and signs in the code. `ok` is false if part of the app could not be ' +
        'searched; `warnings` says which part.',
    ),
  secrets: z.array(z.object({ rule: z.string(), file: z.string(), masked: z.string() })),
  urls: z.array(z.string()),
  findings: z
    .array(
      z.object({
        id: z.string(),
        severity: z.enum(['critical', 'high', 'warning']),
        title: z.string(),
        section: z.string().describe('The member of the report on which it is based.'),
        counts_for: scoreName,
        allows: z.string().describe('What it allows the app, or an attacker of the app, to do.'),
        seen: z
          .array(z.string())
          .describe('Where it was seen, such as `service com.example.Spy`; at most 100 places, then the number of further ones.'),
      }),
    )
    .describe('Heaviest first.'),
  hardening: score.describe('How badly the app is built: signing, debugging, cleartext, backup, exported parts, secrets.'),
  capability: score.describe(
    'What the app can do to its user, by its parts and permissions. It does not say what the app actually does: a password manager can do much too.',
  ),
  risk: z
    .object({
      ...rating,
      of: scoreName.describe('The score whose value this is.'),
      complete: z.boolean().describe('False if part of the app was not searched: the scores may be too low.'),
    })
    .describe('The higher of `hardening` and `capability`.'),
  warnings: z.array(z.string()),
});

export const reputationAnswer = z.object({
  source: z.string().describe('`virustotal`, and `sandbox_virustotal` for a test key: the sandbox invented that response.'),
  ok: z.boolean().describe('False: the source was asked but gave no usable response.'),
  known: z.boolean().nullable().describe('Whether the source has ever seen this file; false says nothing for or against it.'),
  malicious: count.nullable().describe('Engines that call it malicious.'),
  suspicious: count.nullable(),
  engines: count.nullable().describe('Engines that gave a verdict.'),
  as_of: z.string().nullable().describe('Time of those verdicts (RFC 3339).'),
});

export const analyzeOutput = z.object({
  status: z.literal('success'),
  data: apkReport.extend({
    reputation: reputationAnswer
      .nullable()
      .describe('Verdicts of others on the same file, found by its SHA-256; null if VirusTotal is not asked. They do not affect risk.'),
  }),
  timestamp: timestampField,
});

/** The index's facts about uploads. */
export const uploadFacts = z.object({
  fields: z.array(z.string()).describe('The form field of the file is called one of these.'),
  media_types: z.array(z.string()),
  forms: z.array(z.string()).describe('Recognised by the contents of the file, not by its name or type.'),
  max_bytes: count,
});

export const healthOutput = z.object({
  status: z.literal('success'),
  data: z.object({ worker: z.literal('serving'), workers: count }),
  timestamp: timestampField,
});
