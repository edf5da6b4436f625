import { DexCode } from '../../../services/workers/apk/code/dex-code';
import { type DexMethod, DexMethods } from '../../../services/workers/apk/code/dex-methods';
import { CodeSignFinder, type CodeSighting } from '../../../services/workers/apk/code/find-code-signs';
import { type ApkReport } from '../../../services/workers/apk/report';
import { ApkBuilder } from '../../support/apk/apk-builder';
import { createRandom } from '../../support/apk/apk-fuzz';
import { manifestOf, type ManifestOptions } from '../../support/apk/apk-samples';
import { analyzeFile } from '../../support/apk/apk-worker';
import { runsEveryScene } from '../../support/scenes';
import { useOpened } from '../../support/opened';

/** One method in smali, and what is seen in it. Its parameters are `p0`, an object, `p1`, an array of bytes, and `p2`, a text. */
type Case = readonly [name: string, lines: string, ...seen: string[]];

const STRING = 'Ljava/lang/String;';
const NEW_IV = 'new-instance v0, Ljavax/crypto/spec/IvParameterSpec;';
const IV = 'invoke-direct {v0, v1}, Ljavax/crypto/spec/IvParameterSpec;-><init>([B)V';
const NEW_BYTES = 'const/16 v2, 0x10\nnew-array v1, v2, [B';
const FILL = 'fill-array-data v1, :data';
const DATA = '\nreturn-void\n:data\n.array-data 1\n 0x1t 0x2t 0x3t 0x4t\n.end array-data';
const GET_BYTES = `const-string v1, "0123456789abcdef"\ninvoke-virtual {v1}, ${STRING}->getBytes()[B\nmove-result-object v1`;
const RANDOM = 'invoke-virtual {p0, v1}, Ljava/security/SecureRandom;->nextBytes([B)V';
const IV_SEEN = 'constant_iv (IvParameterSpec of constant bytes)';

const IVS: readonly Case[] = [
  ['zeros', `${NEW_BYTES}\n${NEW_IV}\n${IV}`, IV_SEEN],
  ['filled', `${NEW_BYTES}\n${FILL}\n${NEW_IV}\n${IV}${DATA}`, IV_SEEN],
  ['text', `${GET_BYTES}\n${NEW_IV}\n${IV}`, IV_SEEN],
  [
    'gcm',
    `${GET_BYTES}\nconst/16 v2, 0x80\ninvoke-direct {p0, v2, v1}, Ljavax/crypto/spec/GCMParameterSpec;-><init>(I[B)V`,
    'constant_iv (GCMParameterSpec of constant bytes)',
  ],
  ['field', `sget-object v1, La/Values;->IV:[B\n${NEW_IV}\n${IV}`, IV_SEEN],
  ['changingField', `sget-object v1, La/Values;->CHANGING:[B\n${NEW_IV}\n${IV}`],
  ['randomByAlias', `${NEW_BYTES}\nmove-object v3, v1\n${RANDOM.replace('v1', 'v3')}\n${NEW_IV}\n${IV}`],
  ['given', `move-object v1, p1\n${NEW_IV}\n${IV}`],
  ['stored', `${NEW_BYTES}\niput-object v1, p0, La/Values;->bytes:[B\ninvoke-static {}, La/Values;->run()V\n${NEW_IV}\n${IV}`],
  ['branch', `${GET_BYTES}\nif-eqz p1, :else\nmove-object v1, p1\n:else\n${NEW_IV}\n${IV}`],
  ['loop', `${NEW_BYTES}\n:again\n${NEW_IV}\n${IV}\n${RANDOM}\ngoto :again`],
  [
    'switched',
    `${GET_BYTES}\narray-length v2, p1\npacked-switch v2, :table\nmove-object v1, p1\n:one\n${NEW_IV}\n${IV}\nreturn-void\n` +
      ':table\n.packed-switch 0x1\n :one\n.end packed-switch',
  ],
];

const naming = (name: string, provider = ''): string =>
  `const-string v0, "${name}"\ninvoke-static {v0${provider && ', p2'}}, Ljavax/crypto/Cipher;->getInstance(${STRING}${provider})Ljavax/crypto/Cipher;`;
const CIPHERS: readonly Case[] = [
  ['aes', naming('AES'), 'ecb_by_default (Cipher.getInstance of "AES" alone)'],
  ['rsa', naming('RSA')],
];

const FILE_MODES: readonly (readonly [string, string])[] = [
  ['openFileOutput', 'Ljava/io/FileOutputStream;'],
  ['getSharedPreferences', 'Landroid/content/SharedPreferences;'],
  ['getDir', 'Ljava/io/File;'],
];
const opening = (mode: string, owner = 'Landroid/content/Context;', [method, returned] = FILE_MODES[0] ?? ['', '']): string =>
  `const/16 v1, ${mode}\ninvoke-virtual {p0, p2, v1}, ${owner}->${method}(${STRING}I)${returned}`;
const FACTORY = 'Landroid/database/sqlite/SQLiteDatabase$CursorFactory;';
const setting = (method: string, on: number, ownerOnly: number): string =>
  `const/4 v1, ${on}\nconst/4 v2, ${ownerOnly}\ninvoke-virtual {p0, v1, v2}, Ljava/io/File;->${method}(ZZ)Z`;

const FILES: readonly Case[] = [
  ...FILE_MODES.map((row): Case => [`${row[0]}1`, opening('0x1', undefined, [...row]), `shared_files (${row[0]}, world-readable)`]),
  ...FILE_MODES.map((row): Case => [`${row[0]}0`, opening('0x0', undefined, [...row])]),
  ['both', opening('0x3'), 'shared_files (openFileOutput, world-readable and world-writable)'],
  ['ofActivity', opening('0x1', 'La/Main;'), 'shared_files (openFileOutput, world-readable)'],
  [
    'database',
    `const/4 v1, 0x1\nconst/4 v2, 0x0\ninvoke-virtual {p0, p2, v1, v2}, La/Main;->openOrCreateDatabase(${STRING}I${FACTORY})Landroid/database/sqlite/SQLiteDatabase;`,
    'shared_files (openOrCreateDatabase, world-readable)',
  ],
  ['appending', opening('0x4000')],
  ['readable', setting('setReadable', 1, 0), 'shared_files (File.setReadable for all)'],
  ['writableForAll', setting('setWritable', 1, 0), 'shared_files (File.setWritable for all)'],
  ['ownerOnly', setting('setReadable', 1, 1)],
];

const BUILDER = 'Ljava/lang/StringBuilder;';
const appended = (text: string, ...pieces: string[]): string =>
  [
    `new-instance v0, ${BUILDER}`,
    `invoke-direct {v0}, ${BUILDER}-><init>()V`,
    `const-string v1, "${text}"`,
    `invoke-virtual {v0, v1}, ${BUILDER}->append(${STRING})${BUILDER}`,
    ...pieces,
    `invoke-virtual {v0}, ${BUILDER}->toString()${STRING}`,
    'move-result-object v0',
  ].join('\n');
const adding = (register: string, type = STRING): string =>
  `invoke-virtual {v0, ${register}}, ${BUILDER}->append(${type})${BUILDER}\nmove-result-object v0`;
const LOGS = 'Landroid/util/Log;->d';
const TO_LOG = `const-string v1, "Login"\ninvoke-static {v1, v0}, ${LOGS}(${STRING}${STRING})I`;
const logged = (text: string, ...pieces: string[]): string => `${appended(text, ...pieces)}\n${TO_LOG}`;
const seenAs = (name: string): string => `secrets_logged (Log.d of "${name}" and a value)`;
const OBJECTS = '[Ljava/lang/Object;';

const MESSAGES: readonly Case[] = [
  ['password', logged('password=', adding('p2')), seenAs('password=')],
  ['header', logged('GET / Authorization: Bearer ', adding('p2')), seenAs('Authorization: Bearer')],
  ['sign', logged('secret', 'const/16 v1, 0x3d', adding('v1', 'C'), adding('p2')), seenAs('secret=')],
  [
    'tagged',
    `const-string v1, "Password"\ninvoke-static {v1, p2}, ${LOGS}(${STRING}${STRING})I`,
    'secrets_logged (Log.d of a value with the tag "Password")',
  ],
  [
    'printed',
    `sget-object v3, Ljava/lang/System;->out:Ljava/io/PrintStream;\n${appended('password: ', adding('p2'))}\ninvoke-virtual {v3, v0}, Ljava/io/PrintStream;->println(${STRING})V`,
    'secrets_logged (System.out.println of "password:" and a value)',
  ],
  [
    'formatted',
    `const-string v0, "password=%s"\ninvoke-static {v0, p0}, ${STRING}->format(${STRING}${OBJECTS})${STRING}\nmove-result-object v0\n${TO_LOG}`,
    seenAs('password='),
  ],
  [
    'timber',
    `const-string v0, "api_key %s token=%s"\ninvoke-static {v0, p0}, Ltimber/log/Timber;->d(${STRING}${OBJECTS})V`,
    'secrets_logged (Timber.d of "token=" and a value)',
  ],
  ['constant', logged('password=', 'const-string v1, "none"', adding('v1'))],
  ['refreshed', logged('token refreshed at ', adding('p2'))],
  ['length', logged('password length: ', adding('p2'))],
  ['reason', logged('password: ', `invoke-virtual {p0}, La/Main;->getMessage()${STRING}`, 'move-result-object v1', adding('v1'))],
  [
    'exception',
    logged('password: ', adding('v5', 'Ljava/lang/Object;')).replace(
      /^/,
      ':try\ninvoke-static {}, La/Values;->run()V\n:end\n.catchall {:try .. :end} :handler\nreturn-void\n:handler\nmove-exception v5\n',
    ),
  ],
  ['emptied', logged('password=', adding('p2'), 'const/4 v1, 0x0', `invoke-virtual {v0, v1}, ${BUILDER}->setLength(I)V`)],
  ['file', `${appended('password: ', adding('p2'))}\ninvoke-virtual {p0, v0}, Ljava/io/PrintStream;->println(${STRING})V`],
];

const CASES = [...IVS, ...CIPHERS, ...FILES, ...MESSAGES];

const methodOf = ([name, lines]: Case): string =>
  `.method public static ${name}(Ljava/lang/Object;[B${STRING})V\n.registers 9\n${lines}\nreturn-void\n.end method\n`;
const VALUES = `.class public La/Values;
.super Ljava/lang/Object;
.field private static final IV:[B
.field private static final EMPTY:[B
.field private static CHANGING:[B
.method static constructor <clinit>()V
.registers 3
${NEW_BYTES}
sput-object v1, La/Values;->EMPTY:[B
${NEW_BYTES}
${FILL}
sput-object v1, La/Values;->IV:[B
${GET_BYTES}
sput-object v1, La/Values;->CHANGING:[B${DATA}
.end method
`;
const classOf = (methods: readonly string[]): string => `${VALUES}\n${methods.join('\n')}`;

const builder = useOpened(() => ApkBuilder.create());
/** Of all cases. */
let dex: Buffer;
beforeAll(async () => {
  dex = await dexOf('values', [classOf(CASES.map(methodOf))]);
});

const dexOf = async (name: string, smali: readonly string[]): Promise<Buffer> =>
  builder.extract(await builder.build(name, { manifest: manifestOf(), smali }), 'classes.dex');
const look = (dex: Buffer, bounds = {}): { isWhole: boolean; found: readonly CodeSighting[] } => {
  const finder = new CodeSignFinder(bounds);
  return { isWhole: finder.look('classes.dex', new DexCode('classes.dex', dex)), found: finder.list() };
};

describe('values that code shows', () => {
  let found: readonly CodeSighting[];
  beforeAll(() => {
    const seen = look(dex);
    expect(seen.isWhole).toBe(true);
    found = seen.found;
  });

  it.each(CASES)('%s', (name, _lines, ...seen) => {
    const start = `classes.dex: a.Values.${name} `;
    const here = found.filter(({ place }) => place.startsWith(start)).map(({ sign, place }) => `${sign} ${place.slice(start.length)}`);
    expect(here).toEqual(seen);
  });
});

/** Instructions that write `v1`, or the pair of which it is the second. */
const WRITES = `
  move v1, v2 | move/from16 v1, v2 | move/16 v1, v2 | move-wide v0, v2 | move-wide v1, v2 | move-wide/from16 v0, v2 | move-wide/16 v0, v2 |
  move-object v1, v2 | move-object/from16 v1, p0 | move-object/16 v1, p0 | const-wide/16 v0, 0x1 | const-wide/32 v0, 0x1 |
  const-wide v0, 0x1 | const-wide/high16 v0, 0x1000000000000L | const/high16 v1, 0x10000 | const-class v1, La/Values; |
  instance-of v1, p0, La/Values; | array-length v1, p1 | new-instance v1, La/Values; | cmp-long v1, v2, v2 | aget v1, p1, v2 |
  aget-wide v0, p1, v2 | aget-short v1, p1, v2 | iget v1, p0, La/Values;->x:I | iget-wide v0, p0, La/Values;->y:J |
  iget-short v1, p0, La/Values;->x:S | sget v1, La/Values;->x:I | sget-wide v0, La/Values;->y:J | sget-short v1, La/Values;->x:S |
  neg-int v1, v2 | neg-long v0, v2 | int-to-long v0, v2 | long-to-int v1, v2 | double-to-long v0, v2 | int-to-short v1, v2 |
  add-int v1, v2, v2 | add-long v0, v2, v2 | rem-float v1, v2, v2 | rem-double v0, v2, v2 | add-int/2addr v1, v2 |
  ushr-long/2addr v0, v2 | rem-float/2addr v1, v2 | add-double/2addr v0, v2 | add-int/lit16 v1, v2, 0x1 | ushr-int/lit8 v1, v2, 0x1`.split(
  '|',
);
/** Instructions that do not. */
const OTHERS = `
  nop | move v2, v3 | const v2, 0x12345678 | const-wide v2, 0x123456789abcdefL | check-cast v1, Ljava/lang/Object; | monitor-enter p0 |
  aput v2, p1, v3 | iput v2, p0, La/Values;->x:I | sput-wide v2, La/Values;->y:J | if-eq v2, v3, :next | if-eqz v2, :next |
  cmpl-float v2, v3, v3 | add-long v2, v3, v3 | add-int/2addr v2, v3 | add-int/lit8 v2, v3, 0x1 | const-string v2, "x" |
  aget-object v2, p0, v3 | sget-object v2, La/Values;->z:[B`.split('|');

it('every instruction is as long as it is, and writes what it writes', async () => {
  const marked = (instruction: string): string =>
    `const/4 v1, 0x1\n${instruction}\ninvoke-virtual {p0, p2, v1}, La/Main;->openFileOutput(${STRING}I)Ljava/io/FileOutputStream;\n:next`;
  const methods = [...WRITES, ...OTHERS].map((instruction, index) => methodOf([`m${index}`, marked(instruction)]));
  const places = look(await dexOf('instructions', [classOf(methods)])).found.map(({ place }) => place);
  const isFound = (_instruction: string, index: number): boolean => places.some((place) => place.includes(`a.Values.m${index} `));
  const all = [...WRITES, ...OTHERS];
  expect(all.filter(isFound)).toEqual(OTHERS);
});

describe('in a report', () => {
  let shown: Buffer;
  beforeAll(async () => {
    const of = (wanted: string): Case => CASES.find(([each]) => each === wanted) ?? ['', ''];
    shown = await dexOf('shared', [classOf([of('text'), of('both'), of('password')].map(methodOf))]);
  });
  const reportOf = async (name: string, options: ManifestOptions = {}): Promise<ApkReport> => {
    const manifest = manifestOf({ application: 'android:allowBackup="false"', ...options });
    return analyzeFile(await builder.build(name, { manifest, files: { 'classes.dex': shown } }));
  };
  const seenIn = ({ findings }: ApkReport): unknown[] =>
    findings
      .filter(({ section }) => section === 'dex')
      .map(({ id, severity, counts_for: countsFor, seen }) => [id, severity, countsFor, ...seen]);

  it('say what they allow and where they are', async () => {
    const report = await reportOf('told');
    expect(seenIn(report)).toEqual([
      ['code_shared_files', 'warning', 'hardening', 'classes.dex: a.Values.both (openFileOutput, world-readable and world-writable)'],
      ['code_constant_iv', 'warning', 'hardening', 'classes.dex: a.Values.text (IvParameterSpec of constant bytes)'],
      ['code_secrets_logged', 'warning', 'hardening', 'classes.dex: a.Values.password (Log.d of "password=" and a value)'],
    ]);
    expect(report.findings.find(({ id }) => id === 'code_shared_files')?.allows).toMatch(/^Every other app /);
    expect(report.checked).toContainEqual(expect.objectContaining({ source: 'code_signs', ok: true }));
  });

  it.each<[number, number, boolean]>([
    [23, 34, true],
    [24, 34, false],
  ])('files are shared from Android API %d on, for target %d: %s', async (minSdk, targetSdk, isShared) => {
    expect(JSON.stringify(seenIn(await reportOf(`sdk-${minSdk}-${targetSdk}`, { minSdk, targetSdk }))).includes('shared_files')).toBe(
      isShared,
    );
  });
});

describe('a hostile dex file', () => {
  let methods: readonly DexMethod[];
  const without = { members: 1e6, units: 1e6, followed: 1e6 };
  beforeAll(() => {
    methods = methodsOf(dex);
  });
  const methodsOf = (bytes: Buffer): DexMethod[] => [
    ...new DexMethods(new DexCode('classes.dex', bytes)).all({ ...without }, () => undefined),
  ];
  /** A copy in which the head or the code of the fourth method is another. */
  const changed = (change: (bytes: Buffer, code: number) => void): Buffer => {
    const copy = Buffer.from(dex);
    change(copy, methods[3]?.code ?? 0);
    return copy;
  };

  it.each([
    [{ units: 10 }, false],
    [{ followed: 10 }, false],
    [{ members: 10 }, false],
    [{ units: 100_000, followed: 20_000, members: 1_000 }, true],
  ])('is looked at within %j: %s', (bounds, isWhole) => expect(look(dex, bounds).isWhole).toBe(isWhole));

  it.each<[string, (bytes: Buffer, code: number) => void]>([
    ['more code than the file has', (bytes, code) => bytes.writeUInt32LE(0xffffffff, code + 12)],
    ['handlers behind the end of the file', (bytes, code) => bytes.writeUInt16LE(0xffff, code + 6)],
    ['a text that does not exist', (bytes, code) => bytes.writeUInt32LE(0xffff001a, code + 16)],
  ])('with %s in one method shows the other methods, and that it is not whole', (_what, change) => {
    const { isWhole, found } = look(changed(change));
    expect(isWhole).toBe(false);
    expect(found.length).toBeGreaterThanOrEqual(look(dex).found.length - 1);
  });

  it('with many jumps through one large table costs no more than it may', async () => {
    const [, zeros = ''] = IVS[0] ?? [];
    const table = `\n:table\n.packed-switch 0x0\n${' :end\n'.repeat(2_000)}.end packed-switch`;
    const many = `:end\n${zeros}\n${'const v3, 0x0\n'.repeat(2_000)}\npacked-switch v2, :table\nreturn-void${table}`;
    const bomb = await dexOf('jumps', [classOf([methodOf(['bomb', many])])]);
    const code = methodsOf(bomb).at(-1)?.code ?? 0;
    const [first, last] = [bomb.indexOf('\x14\x03\0\0\0\0', code, 'latin1'), bomb.indexOf('\x2b\x02', code, 'latin1')];
    for (let at = first; at < last; at += 6) {
      bomb.writeUInt16LE(0x022b, at);
      bomb.writeInt32LE(bomb.readInt32LE(last + 2) + (last - at) / 2, at + 2);
    }
    expect(look(bomb, { followed: 1_000_000 })).toMatchObject({ isWhole: false, found: [] });
    expect(look(bomb, { followed: 10_000_000 })).toMatchObject({ isWhole: true, found: [{ sign: 'constant_iv' }] });
  });

  it('of random instructions is looked at without an error', () => {
    const random = createRandom(43);
    const copy = Buffer.from(dex);
    for (let round = 0; round < (runsEveryScene ? 300 : 60); round++) {
      for (const { code } of methods) {
        const length = copy.readUInt32LE(code + 12) * 2;
        for (let at = 0; at < length; at++) if (random(5) === 0) copy.writeUInt8(random(256), code + 16 + at);
      }
      look(copy, { ...without });
    }
    expect(look(copy, { ...without }).found.length).toBeLessThan(CASES.length);
  });
});
