/** Each figure in words that can be compared; a figure that the reader has no notion of is absent. */
type Figures = Readonly<Record<string, string>>;

/** What the app itself does not say, which is an answer too. */
const NONE = '(none)';

const text = (value: string | number | null | undefined): string => (value === null || value === undefined ? NONE : String(value));
const list = (values: readonly string[]): string => [...new Set(values)].sort().join(' ') || NONE;
/** Android reads the code unsigned, other readers signed. */
const versionCode = (value: string | null | undefined): string => (value ? String(Number(value) >>> 0) : NONE);

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

export function compareFigure(figure: string, ours: Figures, theirs: Figures): 'agreed' | 'differed' | 'not given' {
  if (theirs[figure] === undefined) return 'not given';
  return ours[figure] === theirs[figure] ? 'agreed' : 'differed';
}
