import { join } from 'node:path';
import { DexCode } from '../../../services/workers/apk/code/dex-code';
import { CodeSignFinder } from '../../../services/workers/apk/code/find-code-signs';
import { type ApkReport } from '../../../services/workers/apk/report';
import { ApkBuilder, type ApkSpec } from '../../support/apk/apk-builder';
import { manifestOf, smaliClass } from '../../support/apk/apk-samples';
import { analyzeFile } from '../../support/apk/apk-worker';
import { elfSample } from '../../support/apk/elf-sample';
import { runsEveryScene } from '../../support/scenes';
import { useOpened } from '../../support/opened';

/** A class with these methods in smali. */
const withMethods = (name: string, ...methods: string[]): string =>
  `.class public L${name};\n.super Ljava/lang/Object;\n\n${methods.join('\n')}\n`;

const method = (signature: string, ...lines: string[]): string =>
  `.method public ${signature}\n    .registers 6\n${lines.map((line) => `    ${line}`).join('\n')}\n.end method\n`;

const calling = (name: string, invoked: string): string =>
  withMethods(name, method('run()V', `invoke-virtual {v0, v1, v2}, ${invoked}`, 'return-void'));

const CHECK = 'checkServerTrusted([Ljava/security/cert/X509Certificate;Ljava/lang/String;)V';
const VERIFY = 'verify(Ljava/lang/String;Ljavax/net/ssl/SSLSession;)Z';

const WEAK = [
  smaliClass('a/Crypt', ['AES/ECB/PKCS5Padding']),
  calling('a/Web', 'Landroid/webkit/WebView;->addJavascriptInterface(Ljava/lang/Object;Ljava/lang/String;)V'),
  withMethods('a/Errors', method('run()V', 'invoke-virtual {v0}, Landroid/webkit/SslErrorHandler;->proceed()V', 'return-void')),
  withMethods('a/Trust', method(CHECK, 'return-void')),
  withMethods('a/Host', method(VERIFY, 'const/4 v0, 0x1', 'return v0')),
  withMethods('a/Lambda', method(VERIFY.replace('verify', 'lambda$run$0'), 'const/4 v0, 0x1', 'return v0')),
  withMethods(
    'a/Shell',
    method('run()V', 'invoke-virtual {v0, v1}, Ljava/lang/Runtime;->exec(Ljava/lang/String;)Ljava/lang/Process;', 'return-void'),
  ),
  withMethods(
    'a/Load',
    method(
      'run()V',
      'new-instance v0, Ldalvik/system/DexClassLoader;',
      'invoke-direct {v0, v1, v2, v3, v4}, Ldalvik/system/DexClassLoader;-><init>(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/ClassLoader;)V',
      'return-void',
    ),
  ),
  smaliClass('com/stub/StubApp'),
];

/** Alike, and harmless. */
const SOUND = [
  smaliClass('a/Crypt', ['RSA/ECB/PKCS1Padding', 'AES/GCM/NoPadding', 'AES', 'the mode AES/ECB is not used']),
  calling('a/Web', 'La/Bridge;->addJavascriptInterface(Ljava/lang/Object;Ljava/lang/String;)V'),
  withMethods('a/Trust', method(CHECK, 'invoke-static {v0}, La/Trust;->check(Ljava/lang/Object;)V', 'return-void')),
  withMethods(
    'a/Other',
    method('checkServerTrusted(Ljava/lang/String;)V', 'return-void'),
    method('verify(Ljava/lang/String;)Z', 'const/4 v0, 0x1', 'return v0'),
  ),
  withMethods('a/Host', method(VERIFY, 'const/4 v0, 0x0', 'return v0')),
  withMethods('okhttp3/internal/platform/ConscryptPlatform$1', method(VERIFY, 'const/4 v0, 0x1', 'return v0')),
  withMethods('a/Another', method(VERIFY, 'const/4 v0, 0x1', 'return v1')),
  smaliClass('com/stub/StubApplication'),
];

const classes = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_each, index) => smaliClass(`b/${name(index)}`));
const short = (index: number): string => `a${String.fromCharCode(97 + index)}`;
/** Of which four in ten are short. */
const NAMES = [...classes(26, short), ...classes(26, (index) => `Outer$${short(index)}`), ...classes(69, (index) => `Screen${index}`)];

const builder = useOpened(() => ApkBuilder.create());

const reportOf = async (name: string, more: Omit<ApkSpec, 'manifest'>): Promise<ApkReport> =>
  analyzeFile(await builder.build(name, { manifest: manifestOf({ application: 'android:allowBackup="false"' }), ...more }));
const seenIn = ({ findings }: ApkReport): Record<string, readonly string[]> =>
  Object.fromEntries(findings.filter(({ section }) => section === 'dex').map(({ id, seen }) => [id, seen]));

it('code that weakens the app or hides what it does is found, with where it is', async () => {
  const report = await reportOf('weak', { smali: [...WEAK, ...NAMES] });
  expect(seenIn(report)).toEqual({
    code_trusts_everything: ['classes.dex: a.Host.verify', 'classes.dex: a.Lambda.lambda$run$0', 'classes.dex: a.Trust.checkServerTrusted'],
    code_tls_errors_ignored: ['classes.dex: android.webkit.SslErrorHandler.proceed'],
    code_ecb: ['classes.dex: "AES/ECB/PKCS5Padding"'],
    code_javascript_interface: ['classes.dex: android.webkit.WebView.addJavascriptInterface'],
    code_packed: ['classes.dex: com.stub.StubApp (360 Jiagu)'],
    code_loads_code: ['classes.dex: dalvik.system.DexClassLoader.<init>'],
    code_runs_commands: ['classes.dex: java.lang.Runtime.exec'],
    code_obfuscated: ['code: 52 of 130 classes have a name of one or two letters'],
  });
  expect(report.checked).toContainEqual(expect.objectContaining({ source: 'code_signs', ok: true }));
});

it('code that only looks alike is not, nor are a few short names', async () => {
  const report = await reportOf('sound', { smali: [...SOUND, ...NAMES.slice(3)] });
  expect(seenIn(report)).toEqual({});
  expect(report.warnings).toEqual([]);
});

it('a packer is known by its library too', async () => {
  const report = await reportOf('packed', { files: { 'lib/arm64-v8a/libDexHelper.so': 'x', 'lib/arm64-v8a/libsample.so': 'x' } });
  expect(seenIn(report)).toEqual({ code_packed: ['libDexHelper.so (Bangcle (SecNeo))'] });
});

it('native code that is built without protection is found in each library, and counts once', async () => {
  const bare = elfSample({ stack: 7, isShared: false, hasRelro: false, names: [] });
  const files = {
    'lib/arm64-v8a/libbare.so': bare,
    'lib/armeabi-v7a/libbare.so': elfSample({ bits: 32, stack: null }),
    'lib/x86/libwhole.so': elfSample(),
  };
  const { findings, hardening, checked, warnings } = await reportOf('native', { files });
  const found = findings.filter(({ section }) => section === 'native_libraries');
  expect(Object.fromEntries(found.map(({ id, seen }) => [id, seen]))).toEqual({
    native_executable_stack: ['lib/arm64-v8a/libbare.so', 'lib/armeabi-v7a/libbare.so'],
    native_fixed_address: ['lib/arm64-v8a/libbare.so'],
    native_no_relro: ['lib/arm64-v8a/libbare.so'],
    native_no_canary: ['lib/arm64-v8a/libbare.so'],
  });
  expect(hardening.inputs.filter(({ id }) => id.startsWith('native_'))).toHaveLength(1);
  expect([checked.every(({ ok }) => ok), warnings]).toEqual([true, []]);
});

it('a native library that ends too early makes the report say that not all of the code was looked at', async () => {
  const report = await reportOf('cut', { files: { 'lib/x86/libcut.so': elfSample().subarray(0, 100) } });
  expect([report.risk.complete, report.warnings]).toEqual([false, [expect.stringContaining('lib/x86/libcut.so: ends before')]]);
});

describe('a dex file that costs too much or is broken', () => {
  let dex: Buffer;
  beforeAll(async () => (dex = await builder.extract(join(builder.folder, 'weak.apk'), 'classes.dex')));

  it.each([
    [10_000, true],
    [3, false],
  ])('with %d members to look at is looked at to the end: %s', (members, isWhole) => {
    expect(new CodeSignFinder({ members }).look('classes.dex', new DexCode('classes.dex', dex))).toBe(isWhole);
  });

  it('makes the report say that not all of the code was looked at', async () => {
    const broken = Buffer.from(dex);
    // The table of classes begins behind the end of the file.
    broken.writeUInt32LE(broken.length, 0x64);
    const report = await reportOf('broken', { files: { 'classes.dex': broken } });
    expect(report.checked).toContainEqual(expect.objectContaining({ source: 'code_signs', ok: false }));
    expect(report.risk.complete).toBe(false);
    expect(seenIn(report)).toHaveProperty('code_runs_commands');
  });

  it('ends in an error of its format, whatever a byte of it is', () => {
    for (let at = 0x20; at < dex.length; at += runsEveryScene ? 3 : 13) {
      const changed = Buffer.from(dex);
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
      try {
        new CodeSignFinder({ members: 10_000, units: 100_000, followed: 100_000 }).look('classes.dex', new DexCode('classes.dex', changed));
      } catch (error) {
        expect(error).toMatchObject({ name: 'MalformedError' });
      }
    }
  });
});
