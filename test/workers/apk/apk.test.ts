import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { resolveValue, ResourceTable } from '../../../services/workers/apk/resources/resource-table';
import { textOf, VALUE } from '../../../services/workers/apk/resources/resources';
import { type EntryEncoding, writeResourceTable } from '../../support/apk/apk-resource-table';
import { unprotectedParts } from '../../../services/workers/apk/code/elf-protections';
import { type ElfOptions, elfSample } from '../../support/apk/elf-sample';
import { TrackerFinder } from '../../../services/workers/apk/code/find-trackers';
import catalogue from '../../../services/workers/apk/code/trackers.json';
import { createLog } from '../../../services/kit/log';
import { createApkHandlers } from '../../../services/workers/apk/handler';
import { findFindings, RULES, RULES_AS_OF, rateRisk, rateScore } from '../../../services/workers/apk/judge/judge-app';
import { type JudgedFacts } from '../../../services/workers/apk/judge/sight';
import { platformProtection } from '../../../services/workers/apk/manifest/read-permissions';
import platform from '../../../services/workers/apk/manifest/platform-permissions.json';
import {
  type ComponentFacts,
  type ComponentKind,
  type PermissionFacts,
  type SchemeVerdict,
  type Score,
} from '../../../services/workers/apk/report';

describe('resources', () => {
  const FIRST = 0x7f010000;

  function textsOf(table: ResourceTable, id: number): Record<string, string | undefined> {
    return Object.fromEntries(table.valuesOf(id).map(({ locale, value }) => [locale, textOf(value)]));
  }

  function resolved(table: ResourceTable, id: number): string | undefined {
    const value = resolveValue(table, { type: VALUE.reference, data: id });
    return value && textOf(value);
  }

  describe('a resource table', () => {
    it.each<EntryEncoding>(['plain', 'sparse', 'offset16', 'compact'])('gives the values of %s entries', (encoding) => {
      const table = new ResourceTable(
        writeResourceTable([
          { encoding, entries: { 0: 'zero', 3: 'three', 9: 'nine' } },
          { encoding, language: 'hi', entries: { 3: 'तीन' } },
        ]),
      );
      expect(textsOf(table, FIRST)).toEqual({ '': 'zero' });
      expect(textsOf(table, FIRST + 3)).toEqual({ '': 'three', hi: 'तीन' });
      expect(textsOf(table, FIRST + 9)).toEqual({ '': 'nine' });
      for (const missing of [1, 2, 8, 10, 0xffff]) expect(textsOf(table, FIRST + missing)).toEqual({});
    });

    it('follows references to the default value', () => {
      const table = new ResourceTable(
        writeResourceTable([
          { encoding: 'plain', language: 'hi', entries: { 1: 'हिन्दी' } },
          { encoding: 'plain', entries: { 0: FIRST + 1, 1: 'default' } },
        ]),
      );
      expect(resolved(table, FIRST)).toBe('default');
    });

    it('ends at references in a circle, to nothing, and to the platform', () => {
      const table = new ResourceTable(
        writeResourceTable([{ encoding: 'plain', entries: { 0: FIRST + 1, 1: FIRST, 2: FIRST + 77, 3: 0x01040000 } }]),
      );
      for (const entry of [0, 1, 2, 3]) expect(resolved(table, FIRST + entry)).toBeUndefined();
    });

    it('lists its texts', () => {
      const table = new ResourceTable(writeResourceTable([{ encoding: 'plain', entries: { 0: 'a', 1: 'हिन्दी', 2: '한 😀' } }]));
      expect([...table.strings()]).toEqual(['a', 'हिन्दी', '한 😀']);
    });
  });
});

describe('native code', () => {
  const partsOf = (bytes: Buffer): unknown => unprotectedParts(bytes, 'lib.so');

  describe.each([32, 64] as const)('a native library of %d bits', (bits) => {
    it.each<[string, ElfOptions, readonly string[]]>([
      ['whole', {}, []],
      ['with a stack that may run', { stack: 7 }, ['executable_stack']],
      ['that says nothing of its stack', { stack: null }, ['executable_stack']],
      ['whose tables stay writable', { hasRelro: false }, ['no_relro']],
      ['without the function of canaries', { names: ['malloc', 'my__stack_chk_fail', '__stack_chk_fail_not'] }, ['no_canary']],
      [
        'with all of it',
        { stack: 7, isShared: false, hasRelro: false, names: [] },
        ['executable_stack', 'fixed_address', 'no_canary', 'no_relro'],
      ],
    ])('%s', (_what, options, expected) => {
      expect(partsOf(elfSample({ bits, ...options }))).toEqual(expected);
    });

    it('that is cut or changed anywhere ends in an error of its format, or is judged', () => {
      const whole = elfSample({ bits });
      for (let at = 0; at < whole.length; at++) {
        const changed = Buffer.from(whole);
        changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
        for (const bytes of [changed, whole.subarray(0, at)]) {
          try {
            partsOf(bytes);
          } catch (error) {
            expect(error).toMatchObject({ name: 'MalformedError' });
          }
        }
      }
    });
  });

  it('a program that a real compiler built is read', () => {
    expect(partsOf(readFileSync(process.execPath))).toEqual(expect.not.arrayContaining(['executable_stack', 'no_relro', 'no_canary']));
  });

  it.each(['', 'x', '\x7fELF sample', `\x7fELF\x02\x02${'\0'.repeat(60)}`])('%j is none that Android loads', (text) => {
    expect(partsOf(Buffer.from(text, 'latin1'))).toBeUndefined();
  });
});

describe('trackers', () => {
  const { trackers } = catalogue;

  function namesOf(...descriptors: string[]): string[] {
    const finder = new TrackerFinder();
    for (const each of descriptors) finder.look(each);
    return finder.list().map(({ name }) => name);
  }

  describe('the list of trackers', () => {
    it('has the vendor of every row as its source, and says when it was compared', () => {
      const SITE = /^[a-z0-9.-]+\.[a-z]{2,}(\/[\w./-]+)?$/;
      expect(trackers.filter(({ source }) => !SITE.test(source))).toEqual([]);
      expect(catalogue.asOf).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(trackers.filter(({ compared }) => compared.length === 0).length).toBeLessThan(5);
      expect(trackers.length).toBeGreaterThan(250);
    });

    it('names each tracker and each package once, and no package that many vendors share', () => {
      const packages = trackers.flatMap(({ classes }) => classes);
      expect(new Set(packages).size).toBe(packages.length);
      expect(new Set(trackers.map(({ name }) => name)).size).toBe(trackers.length);
      expect(packages.filter((name) => !/^[a-z]\w*(\.\w+){1,7}$/.test(name))).toEqual([]);
      const shared = ['com.google', 'com.android', 'com.facebook', 'com.microsoft', 'com.amazon', 'com.tencent', 'com.huawei', 'com.baidu'];
      expect(packages.filter((name) => shared.includes(name))).toEqual([]);
    });

    it.each(trackers.flatMap(({ name, classes }) => classes.map((prefix) => [prefix, name])))('finds %s as %s', (prefix, name) => {
      expect(namesOf(`L${prefix.replaceAll('.', '/')}/a/B;`)).toContain(name);
    });
  });

  it('a class of another name that only begins alike is no tracker', () => {
    expect(namesOf('Lcom/adjust/sdkish/Main;', 'Lcom/adjustable/sdk/Main;', 'Lio/sentryway/A;', 'Landroidx/core/A;')).toEqual([]);
  });
});

describe('uploads', () => {
  const LIMITS = { folder: tmpdir(), threadFile: '', deadlineMs: 1_000, cpuMs: 1_000, heapMebibytes: 32, analyses: 2 };
  const log = createLog('apk-worker', { level: 'silent' });
  const call = (subscriptionId: string, mode: 'live' | 'test') => ({ subscriptionId, mode, log, signal: new AbortController().signal });

  /** Uploads that send nothing until they are told to end, without a header. */
  function slowUploads() {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    async function* upload() {
      await ended;
      yield* [];
    }
    return { upload, end: () => end() };
  }

  it('slow uploads of one test key leave places for others, and all places are free once they have ended', async () => {
    const { Analyze } = createApkHandlers({ ...LIMITS, uploads: 16 });
    const outcomeOf = (subscription: string, mode: 'live' | 'test', upload: () => AsyncGenerator<never>) =>
      Analyze(upload(), call(subscription, mode)).then(
        () => 'analysed',
        (error: unknown) => (error instanceof Error ? error.message : 'unknown'),
      );
    const quick = slowUploads();
    quick.end();
    for (let round = 0; round < 3; round++) {
      const slow = slowUploads();
      const waiting = Array.from({ length: 4 }, () => outcomeOf('greedy', 'test', slow.upload));
      expect(await outcomeOf('greedy', 'test', quick.upload)).toBe('concurrency_exceeded');
      waiting.push(...Array.from({ length: 4 }, () => outcomeOf('second', 'test', slow.upload)));
      expect(await outcomeOf('third', 'test', quick.upload)).toBe('service_not_ready');
      expect(await outcomeOf('third', 'live', quick.upload)).toBe('invalid_request');
      slow.end();
      expect(await Promise.all(waiting)).toEqual(Array(8).fill('invalid_request'));
    }
  });
});

const absent: SchemeVerdict = { present: false, verified: false, error: null };

/** An app of which nothing is found. */
const CLEAN: JudgedFacts = {
  form: 'apk',
  package: {
    name: 'com.example',
    label: null,
    labels: {},
    version_name: null,
    version_code: null,
    min_sdk: null,
    target_sdk: null,
    max_sdk: null,
    main_activity: 'com.example.Main',
  },
  isSignedAlike: true,
  flags: { debuggable: false, allow_backup: false, uses_cleartext: false, test_only: false },
  components: { activities: [], services: [], receivers: [], providers: [] },
  network_security: {
    config_file: null,
    cleartext_permitted: false,
    trusts_user_certificates: false,
    base_config: null,
    domains: [],
    debug_overrides: null,
  },
  signing: { v1: absent, v2: absent, v3: { present: true, verified: true, error: null }, v31: absent, certificates: [] },
  signers: [],
  permissions: [],
  trackers: [],
  secrets: [],
  code: [],
};

const asking = (...names: string[]): PermissionFacts[] =>
  names.map((short) => {
    const name = `android.permission.${short}`;
    return { name, protection: platformProtection(name), max_sdk: null, declared_by_app: false, requested: true };
  });

function part(name: string, permission: string | null, ...actions: string[]): ComponentFacts {
  return { name, exported: true, explicit: true, permission, intent_filters: [{ actions, categories: [], data: [] }] };
}

const withParts = (kind: ComponentKind, ...parts: ComponentFacts[]): JudgedFacts => ({
  ...CLEAN,
  components: { ...CLEAN.components, [kind]: parts },
});

const idsOf = (facts: JudgedFacts): string[] => findFindings(facts).map(({ id }) => id);
const hidden = (facts: JudgedFacts): JudgedFacts => ({ ...facts, package: { ...facts.package, main_activity: null } });

const SPY = part('com.example.Spy', 'android.permission.BIND_ACCESSIBILITY_SERVICE');

describe('the rules', () => {
  it('have a name each, a weight, and words for what they allow', () => {
    expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
    expect(RULES.filter(({ weight }) => weight <= 0 || weight > 0.5)).toEqual([]);
    expect(RULES.filter(({ allows, title }) => !/^[A-Z].*\.$/.test(allows) || title.endsWith('.'))).toEqual([]);
    expect(RULES_AS_OF).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it('find nothing in an app that has nothing', () => expect(idsOf(CLEAN)).toEqual([]));

  it.each(platform.levels.dangerous)('name %s in one finding', (name) => {
    const permissions = asking('any').map((each) => ({ ...each, name, protection: 'dangerous' as const }));
    const findings = findFindings({ ...CLEAN, permissions });
    expect(findings.map(({ seen, counts_for: countsFor }) => [countsFor, seen])).toEqual([['capability', [`permission ${name}`]]]);
    expect(findings[0]?.id).not.toBe('permissions_dangerous');
  });

  it('name a dangerous permission that they do not know', () => {
    expect(findFindings({ ...CLEAN, permissions: asking('health.READ_STEPS') })).toMatchObject([
      { id: 'permissions_dangerous', seen: ['permission android.permission.health.READ_STEPS'] },
    ]);
  });

  it.each<[string, ComponentKind, string]>([
    ['accessibility_service', 'services', 'BIND_ACCESSIBILITY_SERVICE'],
    ['call_service', 'services', 'BIND_SCREENING_SERVICE'],
    ['device_admin', 'receivers', 'BIND_DEVICE_ADMIN'],
  ])('find %s among %s by %s, and say which it is', (id, kind, permission) => {
    const facts = withParts(kind, part('com.example.Part', `android.permission.${permission}`));
    expect(findFindings(facts)).toMatchObject([{ id, seen: [`${kind.slice(0, -1)} com.example.Part`] }]);
    expect(idsOf(withParts('activities', part('com.example.Part', `android.permission.${permission}`)))).toEqual([]);
  });

  it.each([
    ['REQUEST_INSTALL_PACKAGES', 'permission_install_packages'],
    ['RECEIVE_BOOT_COMPLETED', 'starts_at_boot'],
  ])('find %s', (name, id) => expect(idsOf({ ...CLEAN, permissions: asking(name) })).toEqual([id]));

  it('do not count what an app only declares for others', () => {
    const permissions = asking('SYSTEM_ALERT_WINDOW', 'READ_SMS').map((each) => ({ ...each, requested: false }));
    expect(idsOf({ ...CLEAN, permissions })).toEqual([]);
  });

  it('say that an app has no icon, unless it has nothing to start', () => {
    expect(idsOf(hidden(withParts('services', part('a', 'p'))))).toEqual(['no_launcher']);
    expect(idsOf(hidden(CLEAN))).toEqual([]);
  });
});

describe('a combination', () => {
  const spyWith = (...names: string[]): JudgedFacts => ({ ...withParts('services', SPY), permissions: asking(...names) });

  it.each<[string, JudgedFacts]>([
    ['combination_surveillance', spyWith('RECORD_AUDIO', 'RECEIVE_BOOT_COMPLETED')],
    ['combination_overlay_accessibility', spyWith('SYSTEM_ALERT_WINDOW')],
    ['combination_hidden_power', hidden(spyWith())],
    ['combination_dropper', spyWith('REQUEST_INSTALL_PACKAGES')],
    ['combination_hidden_sms', hidden({ ...withParts('receivers', part('a', 'p')), permissions: asking('READ_SMS') })],
    ['combination_sms_fraud', { ...CLEAN, permissions: asking('RECEIVE_SMS', 'SEND_SMS') }],
  ])('%s names everything that makes it', (id, facts) => {
    const found = findFindings(facts);
    const combined = found.find((finding) => finding.id === id);
    expect(combined?.seen.length).toBeGreaterThan(1);
    const alone = found.filter((finding) => !finding.id.startsWith('combination_')).flatMap(({ seen }) => seen);
    expect(alone).toEqual(expect.arrayContaining([...(combined?.seen ?? ['nothing'])]));
  });

  it.each<[string, JudgedFacts]>([
    ['a sense alone', { ...CLEAN, permissions: asking('RECORD_AUDIO', 'RECEIVE_BOOT_COMPLETED') }],
    ['a power alone', spyWith('RECEIVE_BOOT_COMPLETED')],
    [
      'an app that can be the one for text messages',
      {
        ...withParts('receivers', part('a', 'android.permission.BROADCAST_SMS', 'android.provider.Telephony.SMS_DELIVER')),
        permissions: asking('RECEIVE_SMS', 'SEND_SMS'),
      },
    ],
  ])('is not %s', (_what, facts) => expect(idsOf(facts).filter((id) => id.startsWith('combination_'))).toEqual([]));
});

describe('a finding', () => {
  it('names 100 places, then how many more, and cuts long names', () => {
    const parts = Array.from({ length: 103 }, (_each, index) => part(`${index}${'x'.repeat(400)}`, null));
    const [finding] = findFindings(withParts('services', ...parts));
    expect(finding?.seen).toHaveLength(101);
    expect(finding?.seen.at(-1)).toBe('and 3 more');
    expect(finding?.seen[0]?.length).toBeLessThanOrEqual(301);
  });
});

describe('scores', () => {
  const found = (...ids: string[]): { id: string }[] => ids.map((id) => ({ id }));

  it.each<[string[], number, string]>([
    [[], 0, 'low'],
    [['debuggable'], 25, 'medium'],
    [['debuggable', 'test_only', 'debug_certificate'], 25, 'medium'],
    [['exported_provider', 'exported_activity'], 12, 'low'],
    [['unsigned', 'signature_invalid', 'cleartext_traffic'], 81.25, 'critical'],
  ])('hardening of %j is %d, %s', (ids, score, level) => {
    expect(rateScore('hardening', found(...ids))).toMatchObject({ score, level });
  });

  it('have as inputs what weighs in them', () => {
    const { inputs } = rateScore('hardening', found('exported_activity', 'exported_provider', 'unsigned', 'permission_camera'));
    expect(inputs).toEqual([
      { id: 'exported_provider', weight: 0.12 },
      { id: 'unsigned', weight: 0.5 },
    ]);
  });

  const rated = (score: number): Score => ({ score, level: 'low', method: '', inputs: [] });
  it.each([
    [30, 20, 30, 'hardening'],
    [20, 30, 30, 'capability'],
  ])('hardening %d and capability %d make the risk %d, of %s', (hardening, capability, score, of) => {
    expect(rateRisk({ hardening: rated(hardening), capability: rated(capability) }, true)).toMatchObject({ score, of, complete: true });
  });
});
