import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const BESIDE = join(__dirname, 'androguard-facts.py');
/** A build has the compiled files alone. */
const PROGRAM = existsSync(BESIDE) ? BESIDE : join(__dirname, '../../../../test/support/apk/androguard-facts.py');
/** The interpreter that Debian's packages are installed for; the first on the PATH may be another. */
const PYTHON = '/usr/bin/python3';
const TIMEOUT_MS = 120_000;

/** An attribute as androguard gives it; null where the manifest has none. */
const attribute = z.string().nullable();

const component = z.strictObject({
  name: z.string(),
  exported: attribute,
  permission: attribute,
  /** Of all intent filters together; a kind that none has is absent. */
  filters: z.strictObject({
    action: z.array(z.string()).default([]),
    category: z.array(z.string()).default([]),
    data: z.array(z.record(z.string(), z.string())).default([]),
  }),
});

const certificate = z.strictObject({
  sha256: z.string(),
  serial: z.string(),
  /** Unix time in seconds. */
  not_before: z.number(),
  not_after: z.number(),
});

const network = z.strictObject({
  file: z.string(),
  base_cleartext: attribute,
  base_anchors: z.array(z.string()).nullable(),
  domains: z.array(z.strictObject({ cleartext: attribute, names: z.array(z.tuple([z.string(), attribute])), pins: z.number() })),
});

const facts = z.strictObject({
  package: z.string(),
  version_code: attribute,
  version_name: attribute,
  min_sdk: attribute,
  target_sdk: attribute,
  label: z.string(),
  /** By locale as in folder names, `pt-rBR`; `default` for the one without. */
  labels: z.record(z.string(), z.string()),
  main_activity: attribute,
  flags: z.strictObject({
    debuggable: attribute,
    allowBackup: attribute,
    usesCleartextTraffic: attribute,
    testOnly: attribute,
    networkSecurityConfig: attribute,
  }),
  network: network.nullable(),
  permissions: z.strictObject({
    requested: z.array(z.tuple([z.string(), z.number().nullable()])),
    /** Name and protectionLevel, `None` where the app gives none. */
    declared: z.record(z.string(), z.string()),
  }),
  components: z.strictObject({
    activities: z.array(component),
    services: z.array(component),
    receivers: z.array(component),
    providers: z.array(component),
  }),
  signing: z.strictObject({
    present: z.strictObject({ v1: z.boolean(), v2: z.boolean(), v3: z.boolean() }),
    v1: z.array(certificate),
    v2: z.array(certificate),
    v3: z.array(certificate),
  }),
  abis: z.array(z.string()),
  dex: z.array(
    z.strictObject({ name: z.string(), version: z.number(), classes: z.number(), methods: z.number(), descriptors: z.array(z.string()) }),
  ),
});

/** By path: facts, or why androguard could not read the file. */
const answers = z.record(
  z.string(),
  z.union([z.strictObject({ facts, error: z.null() }), z.strictObject({ facts: z.null(), error: z.string() })]),
);

export type AndroguardFacts = z.infer<typeof facts>;
export type AndroguardAnswers = z.infer<typeof answers>;

/** What androguard reads in these files, all in one process: starting it costs more than a file does. */
export async function askAndroguard(paths: readonly string[]): Promise<AndroguardAnswers> {
  // Isolated from Python settings of whoever runs the tests, and leaving no compiled files behind.
  const { stdout } = await promisify(execFile)(PYTHON, ['-I', '-B', PROGRAM, ...paths], { maxBuffer: 1e8, timeout: TIMEOUT_MS });
  return answers.parse(JSON.parse(stdout));
}
