import { isSecretTag, secretNamedInFormat } from './secret-names';
import { append, isConstantBytes, joinedOf, type Joined, type Value } from './values';

/** Signs that the values in an app's code can show. Each has its own rule. */
export const VALUE_SIGNS = ['ecb_by_default', 'constant_iv', 'shared_files', 'secrets_logged'] as const;
export type ValueSign = (typeof VALUE_SIGNS)[number];

/** A call of a known method, with its arguments as far as they are known. The object comes first, unless the method is static. */
interface Call {
  readonly args: readonly (Value | undefined)[];
  readonly method: string;
  /** Types of the parameters and of the result, such as `(Ljava/lang/String;I)V`. */
  readonly signature: string;
  /** Records the method's sign with a description. */
  readonly saw: (what: string) => void;
}

export interface KnownMethod {
  /** Its class; undefined for a method that every `Context` inherits, because the code may name any subclass. */
  readonly owner?: string;
  readonly names: readonly string[];
  readonly signatures: readonly string[];
  /** The sign that a call can give. Only methods with such a call are followed closely. */
  readonly sign?: ValueSign;
  /** @returns the result, as far as it is known */
  readonly follow: (call: Call) => Value | undefined;
}

const STRING = 'Ljava/lang/String;';
const OBJECT = 'Ljava/lang/Object;';

const IV: KnownMethod['follow'] = ({ args, signature, saw }) => {
  const isGcm = signature.startsWith('(I');
  if (isConstantBytes(args[isGcm ? 2 : 1])) saw(isGcm ? 'GCMParameterSpec of constant bytes' : 'IvParameterSpec of constant bytes');
  return undefined;
};

/** Android's providers use ECB when a block cipher is named alone ("Cipher", developer.android.com/guide/topics/security/cryptography). */
const BLOCK_CIPHER = /^(?:AES|DES|DESede|Blowfish)$/i;

const CIPHER: KnownMethod['follow'] = ({ args: [name], saw }) => {
  if (name?.kind === 'text' && BLOCK_CIPHER.test(name.text)) saw(`Cipher.getInstance of "${name.text}" alone`);
  return undefined;
};

const MODES = ['world-readable', 'world-writable', 'world-readable and world-writable'];

/** MODE_WORLD_READABLE is 1 and MODE_WORLD_WRITEABLE 2; other bits are unrelated flags. */
const MODE: KnownMethod['follow'] = ({ args: [, , mode], method, saw }) => {
  const what = mode?.kind === 'number' ? MODES[(mode.number & 3) - 1] : undefined;
  if (what !== undefined) saw(`${method}, ${what}`);
  return undefined;
};

/** The second argument says whether the change applies only to the owner. */
const FOR_ALL: KnownMethod['follow'] = ({ args: [, on, ownerOnly], method, saw }) => {
  if (on?.kind === 'number' && on.number !== 0 && ownerOnly?.kind === 'number' && ownerOnly.number === 0) saw(`File.${method} for all`);
  return undefined;
};

const isLeak = (message: Value | undefined): message is Joined & { named: string } =>
  message?.kind === 'joined' && message.named !== undefined;

const LOG: KnownMethod['follow'] = ({ args, method, signature, saw }) => {
  const [tag, message] = signature.startsWith('(I') ? args.slice(1) : args;
  if (isLeak(message)) saw(`Log.${method} of "${message.named}" and a value`);
  else if (message === undefined && tag?.kind === 'text' && isSecretTag(tag.text))
    saw(`Log.${method} of a value with the tag "${tag.text}"`);
  return undefined;
};

const PRINT: KnownMethod['follow'] = ({ args: [stream, message], method, saw }) => {
  if (stream?.kind === 'console' && isLeak(message)) saw(`System.out.${method} of "${message.named}" and a value`);
  return undefined;
};

/** A format, and an array of the values that fill it. */
const formatted = (format: Value | undefined): Value | undefined => {
  if (format?.kind === 'text') return { ...joinedOf(), named: secretNamedInFormat(format.text) };
  return format;
};

const TIMBER: KnownMethod['follow'] = ({ args, method, saw }) => {
  const message = formatted(args.at(-2));
  if (isLeak(message)) saw(`Timber.${method} of "${message.named}" and a value`);
  return undefined;
};

const CONSTANT_BYTES: KnownMethod['follow'] = ({ args }) =>
  args.some((each) => each?.kind === 'text' || isConstantBytes(each)) ? { kind: 'bytes', isConstant: true, isFilled: true } : undefined;

const typeOf = (signature: string): string => signature.slice(1, signature.indexOf(')'));

const APPEND: KnownMethod['follow'] = ({ args: [builder, piece], method, signature }) => {
  const type = typeOf(signature);
  // A number given to a builder's constructor is its capacity in characters.
  const isRoom = method === '<init>' && (type === 'I' || type === '');
  if (builder?.kind === 'joined' && !isRoom) append(builder, piece, type);
  return builder;
};

const COPY: KnownMethod['follow'] = ({ args: [builder] }) => (builder?.kind === 'joined' ? { ...builder, isBuilder: false } : undefined);

const CONCAT: KnownMethod['follow'] = ({ args: [first, second] }) => {
  const text = joinedOf();
  append(text, first, STRING);
  append(text, second, STRING);
  return text;
};

const LOG_NAMES = ['v', 'd', 'i', 'w', 'e', 'wtf'];
const BUILDER_TYPES = ['Z', 'C', 'I', 'J', 'F', 'D', STRING, OBJECT, 'Ljava/lang/CharSequence;', '[C', 'Ljava/lang/StringBuffer;'];

/** Classes whose objects build texts. */
export const BUILDERS = ['Ljava/lang/StringBuilder;', 'Ljava/lang/StringBuffer;'];

const MODE_ROWS: readonly (readonly [name: string, signature: string])[] = [
  ['openFileOutput', `(${STRING}I)Ljava/io/FileOutputStream;`],
  ['getSharedPreferences', `(${STRING}I)Landroid/content/SharedPreferences;`],
  ['getDir', `(${STRING}I)Ljava/io/File;`],
  ['openOrCreateDatabase', `(${STRING}ILandroid/database/sqlite/SQLiteDatabase$CursorFactory;)Landroid/database/sqlite/SQLiteDatabase;`],
  [
    'openOrCreateDatabase',
    `(${STRING}ILandroid/database/sqlite/SQLiteDatabase$CursorFactory;Landroid/database/DatabaseErrorHandler;)Landroid/database/sqlite/SQLiteDatabase;`,
  ],
];

/** The number of parameters in the longest list among them. */
export const MAX_PARAMETERS = 4;

export const KNOWN_METHODS: readonly KnownMethod[] = [
  { owner: 'Ljavax/crypto/spec/IvParameterSpec;', names: ['<init>'], signatures: ['([B)V', '([BII)V'], sign: 'constant_iv', follow: IV },
  { owner: 'Ljavax/crypto/spec/GCMParameterSpec;', names: ['<init>'], signatures: ['(I[B)V', '(I[BII)V'], sign: 'constant_iv', follow: IV },
  {
    owner: 'Ljavax/crypto/Cipher;',
    names: ['getInstance'],
    signatures: ['', STRING, 'Ljava/security/Provider;'].map((provider) => `(${STRING}${provider})Ljavax/crypto/Cipher;`),
    sign: 'ecb_by_default',
    follow: CIPHER,
  },
  ...MODE_ROWS.map(([name, signature]): KnownMethod => ({ names: [name], signatures: [signature], sign: 'shared_files', follow: MODE })),
  { owner: 'Ljava/io/File;', names: ['setReadable', 'setWritable'], signatures: ['(ZZ)Z'], sign: 'shared_files', follow: FOR_ALL },
  {
    owner: 'Landroid/util/Log;',
    names: LOG_NAMES,
    signatures: [`(${STRING}${STRING})I`, `(${STRING}${STRING}Ljava/lang/Throwable;)I`],
    sign: 'secrets_logged',
    follow: LOG,
  },
  { owner: 'Landroid/util/Log;', names: ['println'], signatures: [`(I${STRING}${STRING})I`], sign: 'secrets_logged', follow: LOG },
  {
    owner: 'Ljava/io/PrintStream;',
    names: ['println', 'print'],
    signatures: [`(${STRING})V`, `(${OBJECT})V`],
    sign: 'secrets_logged',
    follow: PRINT,
  },
  ...['', '$Forest', '$Companion', '$Tree'].map((inner): KnownMethod => ({
    owner: `Ltimber/log/Timber${inner};`,
    names: LOG_NAMES,
    signatures: [`(${STRING}[${OBJECT})V`, `(Ljava/lang/Throwable;${STRING}[${OBJECT})V`],
    sign: 'secrets_logged',
    follow: TIMBER,
  })),
  {
    owner: STRING,
    names: ['getBytes'],
    signatures: ['()[B', `(${STRING})[B`, '(Ljava/nio/charset/Charset;)[B'],
    follow: ({ args: [text], ...call }) => CONSTANT_BYTES({ ...call, args: [text] }),
  },
  { owner: 'Landroid/util/Base64;', names: ['decode'], signatures: [`(${STRING}I)[B`, '([BI)[B'], follow: CONSTANT_BYTES },
  {
    owner: 'Ljava/util/Base64$Decoder;',
    names: ['decode'],
    signatures: [`(${STRING})[B`, '([B)[B'],
    follow: CONSTANT_BYTES,
  },
  ...BUILDERS.map((owner) => ({
    owner,
    names: ['append', '<init>'],
    signatures: ['()V', '(I)V', `(${STRING})V`, '(Ljava/lang/CharSequence;)V', ...BUILDER_TYPES.map((type) => `(${type})${owner}`)],
    follow: APPEND,
  })),
  ...BUILDERS.map((owner) => ({ owner, names: ['toString'], signatures: [`()${STRING}`], follow: COPY })),
  { owner: STRING, names: ['concat'], signatures: [`(${STRING})${STRING}`], follow: CONCAT },
  {
    owner: 'Lkotlin/jvm/internal/Intrinsics;',
    names: ['stringPlus'],
    signatures: [`(${STRING}${OBJECT})${STRING}`],
    follow: CONCAT,
  },
  {
    owner: STRING,
    names: ['format'],
    signatures: [`(${STRING}[${OBJECT})${STRING}`, `(Ljava/util/Locale;${STRING}[${OBJECT})${STRING}`],
    follow: ({ args }) => formatted(args.at(-2)),
  },
  // These only inspect their arguments, or return them.
  {
    owner: 'Lkotlin/jvm/internal/Intrinsics;',
    names: ['checkNotNullExpressionValue', 'checkExpressionValueIsNotNull', 'checkNotNullParameter'],
    signatures: [`(${OBJECT}${STRING})V`],
    follow: () => undefined,
  },
  { owner: STRING, names: ['valueOf'], signatures: [`(${OBJECT})${STRING}`], follow: ({ args: [value] }) => value },
  {
    owner: 'Ljava/util/Objects;',
    names: ['requireNonNull'],
    signatures: [`(${OBJECT})${OBJECT}`],
    follow: ({ args: [value] }) => value,
  },
];
