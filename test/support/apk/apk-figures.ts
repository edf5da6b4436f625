import { type ApkReport } from '../../../services/workers/apk/report';
import { type AndroguardFacts } from './androguard';

export const FIGURES = [
  'package',
  'version code',
  'version name',
  'minimum SDK',
  'target SDK',
  'permissions',
  'components',
  'signers',
  'native ABIs',
  'debuggable',
] as const;

export type Figure = (typeof FIGURES)[number];

/** Each figure in words that can be compared; a figure that the reader has no notion of is absent. */
export type Figures = Readonly<Partial<Record<Figure, string>>>;

/** What the app itself does not say, which is an answer too. */
const NONE = '(none)';
const KINDS = ['activities', 'services', 'receivers', 'providers'] as const;

const text = (value: string | number | null | undefined): string => (value === null || value === undefined ? NONE : String(value));
const list = (values: readonly string[]): string => [...new Set(values)].sort().join(' ') || NONE;
/** Android reads the code unsigned, other readers signed. */
const versionCode = (value: string | null | undefined): string => (value ? String(Number(value) >>> 0) : NONE);

export function figuresOfReport(report: ApkReport): Figures {
  const { package: app } = report;
  return {
    package: app.name,
    'version code': text(app.version_code),
    'version name': text(app.version_name),
    'minimum SDK': text(app.min_sdk),
    'target SDK': text(app.target_sdk),
    permissions: list(report.permissions.filter((each) => each.requested).map((each) => each.name)),
    components: list(KINDS.flatMap((kind) => report.components[kind].map((each) => `${kind}:${each.name}`))),
    signers: list(report.signing.certificates.map((each) => each.sha256)),
    'native ABIs': list(report.native_abis),
    debuggable: String(report.flags.debuggable),
  };
}

export function figuresOfAndroguard(facts: AndroguardFacts): Figures {
  const { v1, v2, v3 } = facts.signing;
  return {
    package: facts.package,
    'version code': versionCode(facts.version_code),
    'version name': text(facts.version_name),
    'minimum SDK': text(facts.min_sdk),
    'target SDK': text(facts.target_sdk),
    permissions: list(facts.permissions.requested.map(([name]) => name)),
    components: list(KINDS.flatMap((kind) => facts.components[kind].map((each) => `${kind}:${each.name}`))),
    signers: list([...v1, ...v2, ...v3].map((each) => each.sha256)),
    'native ABIs': list(facts.abis),
    // It does not apply Android's default to an app that says nothing.
    ...(facts.flags.debuggable !== null && { debuggable: facts.flags.debuggable }),
  };
}

/** @param badging what `dump badging` of aapt or aapt2 printed; neither tells components or signers there */
export function figuresOfBadging(badging: string): Figures {
  const values = (line: RegExp): string[] => [...badging.matchAll(line)].map(([, value = '']) => value);
  const native = values(/^(?:alt-)?native-code: (.*)$/gm).flatMap((line) => [...line.matchAll(/'([^']+)'/g)].map(([, abi = '']) => abi));
  const implied = new Set(values(/^ *uses-implied-permission(?:-sdk-23)?: name='([^']*)'/gm));
  const permissions = values(/^uses-permission(?:-sdk-23)?: name='([^']*)'/gm);
  return {
    package: text(values(/^package: name='([^']*)'/gm)[0]),
    'version code': versionCode(values(/^package: .*? versionCode='([^']*)'/gm)[0]),
    'version name': text(values(/^package: .*? versionName='([^']*)'/gm)[0] || null),
    'minimum SDK': text(values(/^sdkVersion:'([^']*)'/gm)[0]),
    'target SDK': text(values(/^targetSdkVersion:'([^']*)'/gm)[0]),
    // aapt adds what Android grants to apps for its oldest releases; the manifest does not ask for it.
    permissions: list(permissions.filter((name) => !implied.has(name))),
    'native ABIs': list(native),
    debuggable: String(/^application-debuggable$/m.test(badging)),
  };
}

export type Comparison = 'agreed' | 'differed' | 'not given';

export function compareFigure(figure: Figure, ours: Figures, theirs: Figures): Comparison {
  if (theirs[figure] === undefined) return 'not given';
  return ours[figure] === theirs[figure] ? 'agreed' : 'differed';
}
