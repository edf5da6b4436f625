import { findFindings, RULES, RULES_AS_OF, rateRisk, rateScore } from '../../../services/workers/apk/judge/judge-app';
import { type JudgedFacts } from '../../../services/workers/apk/judge/sight';
import { platformProtection } from '../../../services/workers/apk/manifest/read-permissions';
import platform from '../../../services/workers/apk/manifest/platform-permissions.json';
import type { ComponentFacts, ComponentKind, PermissionFacts, SchemeVerdict, Score } from '../../../services/workers/apk/report';

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
