import { MalformedError } from '../apk-error';
import { LIMITS } from '../limits';
import { type CheckedFacts } from '../report';
import { type Unprotected, UNPROTECTED, unprotectedParts } from './elf-protections';
import { type DexCode } from './dex-code';
import { type CodeBudget, DexMethods, type DexMethod } from './dex-methods';
import { VALUE_SIGNS, type ValueSign } from './known-methods';
import { ValueSigns } from './value-signs';
import { type MethodCode } from './instructions';

/** Signs that can be seen in code without running it. Each has its own rule. */
export type CodeSign =
  | Unprotected
  | ValueSign
  | 'javascript_interface'
  | 'tls_errors_ignored'
  | 'trusts_everything'
  | 'ecb'
  | 'runs_commands'
  | 'loads_code'
  | 'packed'
  | 'obfuscated';

export interface CodeSighting {
  readonly sign: CodeSign;
  /** Place of the sign, such as `classes.dex: java.lang.Runtime.exec`. */
  readonly place: string;
}

/** The day on which the tables below last changed. */
const CODE_SIGNS_AS_OF = '2026-11-30';

/** Methods whose mere use is a sign: the sign, the class and the method's name. */
const METHODS: readonly (readonly [CodeSign, string, string])[] = [
  ['javascript_interface', 'android.webkit.WebView', 'addJavascriptInterface'],
  ['tls_errors_ignored', 'android.webkit.SslErrorHandler', 'proceed'],
  ['trusts_everything', 'org.apache.http.conn.ssl.AllowAllHostnameVerifier', '<init>'],
  ['runs_commands', 'java.lang.Runtime', 'exec'],
  ['runs_commands', 'java.lang.ProcessBuilder', 'start'],
  ['loads_code', 'dalvik.system.DexClassLoader', '<init>'],
  ['loads_code', 'dalvik.system.InMemoryDexClassLoader', '<init>'],
];

/** Prefixes of texts. RSA is not among them, because `ECB` means nothing there. */
const TEXTS: readonly (readonly [CodeSign, string])[] = ['AES/ECB', 'DES/ECB', 'DESede/ECB', 'Blowfish/ECB'].map((text) => ['ecb', text]);

/** Marks of programs that hide an app's code: the class that unpacks it, and the library that does the work. */
const PACKERS: readonly { readonly name: string; readonly classes: readonly string[]; readonly libraries: RegExp }[] = [
  { name: '360 Jiagu', classes: ['com.stub.StubApp', 'com.qihoo.util.StubApp'], libraries: /^libjiagu(_\w+)?\.so$|^libprotectClass\.so$/ },
  { name: 'Tencent Legu', classes: ['com.tencent.StubShell.TxAppEntry'], libraries: /^libshell[ax]?(-[\w.]+)?\.so$/ },
  {
    name: 'Bangcle (SecNeo)',
    classes: ['com.secneo.apkwrapper.ApplicationWrapper', 'com.SecShell.SecShell.ApplicationWrapper'],
    libraries: /^lib(secexe|secmain|SecShell|DexHelper)(-x86)?\.so$/,
  },
  { name: 'Ijiami', classes: ['s.h.e.l.l.S', 'com.shell.SuperApplication'], libraries: /^libexec(main)?\.so$/ },
  { name: 'Baidu', classes: ['com.baidu.protect.StubApplication'], libraries: /^libbaiduprotect(_\w+)?\.so$/ },
  { name: 'Alibaba', classes: ['com.ali.mobisecenhance.StubApplication'], libraries: /^libmobisec[xyz]?\.so$/ },
  { name: 'DexProtector', classes: [], libraries: /^libdexprotector(\.[\w.]+)?\.so$/ },
  { name: 'AppSealing', classes: ['com.inka.appsealing.AppSealingApplication'], libraries: /^libcovault-appsec\.so$/ },
];

/**
 * An app counts as obfuscated if at least this number and this share of its classes have a name of one or two letters. Of 27 dex files that
 * are not obfuscated, 26 have at most 3 %, and a small file has 19 %; an obfuscated file has 69 %.
 */
const OBFUSCATED = { classes: 50, share: 0.3 } as const;
const SHORT_NAME = /^[a-z]{1,2}\d?$/i;

const descriptorOf = (className: string): string => `L${className.replaceAll('.', '/')};`;
const classNameOf = (descriptor: string): string => descriptor.slice(1, -1).replaceAll('/', '.');

/** Collects the signs in an app's code, in bounded time. */
export class CodeSignFinder {
  private readonly found = new Map<CodeSign, Set<string>>();
  private readonly budget: CodeBudget;
  private classes = 0;
  private shortNames = 0;

  constructor({ members = LIMITS.codeMembers, units = LIMITS.codeUnits, followed = LIMITS.followedUnits }: Partial<CodeBudget> = {}) {
    this.budget = { members, units, followed };
  }

  /** Records a class. @param descriptor such as `Lcom/example/Main;` */
  lookAtClass(descriptor: string): void {
    const start = Math.max(descriptor.lastIndexOf('/'), descriptor.lastIndexOf('$'), 0) + 1;
    this.classes++;
    if (SHORT_NAME.test(descriptor.slice(start, -1))) this.shortNames++;
  }

  /** @returns false when part of the file was skipped. @throws MalformedError */
  look(file: string, code: DexCode): boolean {
    for (const [sign, owner, method] of METHODS)
      if (code.refersTo(descriptorOf(owner), method)) this.add(sign, `${file}: ${owner}.${method}`);
    for (const [sign, prefix] of TEXTS) {
      const text = code.findText(prefix);
      if (text !== undefined) this.add(sign, `${file}: "${text}"`);
    }
    for (const { name, classes } of PACKERS)
      for (const each of classes) if (code.findType(descriptorOf(each)) !== undefined) this.add('packed', `${file}: ${each} (${name})`);
    return this.lookAtMethods(file, code);
  }

  /** @param libraries names of native libraries */
  lookAtLibraries(libraries: readonly string[]): void {
    const names = new Set(libraries);
    for (const { name, libraries: mark } of PACKERS)
      for (const library of names) if (mark.test(library)) this.add('packed', `${library} (${name})`);
  }

  /** Reads the contents of a native library. @throws MalformedError */
  lookAtLibrary(file: string, bytes: Buffer): void {
    for (const sign of unprotectedParts(bytes, file) ?? []) this.add(sign, file);
  }

  private lookAtMethods(file: string, code: DexCode): boolean {
    const methods = new DexMethods(code);
    const acceptAll = new AcceptAllFinder(code, methods);
    const values = new ValueSigns(code, methods, this.budget);
    if (acceptAll.isIdle && values.isIdle) return this.budget.units >= 0;
    let isWhole = true;
    const all = methods.all(this.budget, values.declare);
    for (let next = all.next(); ; next = all.next()) {
      if (next.done === true) return next.value && isWhole;
      const method = next.value;
      const place = (): string => {
        const { owner, name } = code.method(method.index);
        return `${file}: ${classNameOf(code.descriptorOf(owner))}.${code.text(name)}`;
      };
      const look = (): boolean => {
        if (acceptAll.accepts(method)) this.add('trusts_everything', place());
        return values.look(method, (sign, what) => this.add(sign, `${place()} (${what})`));
      };
      isWhole = wholly(look) && isWhole;
    }
  }

  private add(sign: CodeSign, place: string): void {
    const places = this.found.get(sign) ?? new Set();
    if (places.size < LIMITS.listed) this.found.set(sign, places.add(place));
  }

  list(): readonly CodeSighting[] {
    if (this.shortNames >= OBFUSCATED.classes && this.shortNames >= this.classes * OBFUSCATED.share)
      this.add('obfuscated', `code: ${this.shortNames} of ${this.classes} classes have a name of one or two letters`);
    return [...this.found].flatMap(([sign, places]) => [...places].map((place) => ({ sign, place })));
  }
}

/** A method with broken code must not hide the others. */
function wholly(look: () => boolean): boolean {
  try {
    return look();
  } catch (error) {
    if (error instanceof MalformedError) return false;
    throw error;
  }
}

/** Signs besides those of the tables above. */
const OTHER_SIGNS = [...VALUE_SIGNS, 'obfuscated'];

/** @param ok false when some code could not be read */
export function checkedCode(ok: boolean): CheckedFacts {
  const names = new Set([...METHODS, ...TEXTS].map(([sign]) => sign));
  const entries = names.size + OTHER_SIGNS.length + UNPROTECTED.length + PACKERS.length;
  return { source: 'code_signs', as_of: CODE_SIGNS_AS_OF, ok, entries };
}

const RETURN_VOID = 0x000e;
/** `const/4` that sets a register to one. */
const CONST_ONE = { mask: 0xf0ff, value: 0x1012 };
const RETURN = { mask: 0x00ff, value: 0x000f };

/** Here OkHttp switches off Conscrypt's check of host names, because it checks them itself. Most apps contain it. */
const CHECKS_ELSEWHERE = 'Lokhttp3/internal/platform/';

/** A method that checks certificates or host names, recognised by its name and the type of one of its first two parameters. */
interface Check {
  /** `any`: a lambda that makes this check has another name. */
  readonly name: number | 'any' | undefined;
  readonly parameter: number;
  readonly type: number | undefined;
  readonly acceptsAll: (code: MethodCode) => boolean;
}

const isEmpty = (code: MethodCode): boolean => code.length === 1 && code.unit(0) === RETURN_VOID;

function isAlwaysTrue(code: MethodCode): boolean {
  const [set, end] = [code.unit(0), code.unit(1)];
  const returns = (set & CONST_ONE.mask) === CONST_ONE.value && (end & RETURN.mask) === RETURN.value;
  return code.length === 2 && returns && ((set >> 8) & 0xf) === end >> 8;
}

/** Finds checks of certificates and host names that accept everything. */
class AcceptAllFinder {
  private readonly checks: readonly Check[];

  constructor(
    private readonly dex: DexCode,
    private readonly methods: DexMethods,
  ) {
    const certificates = dex.findType('[Ljava/security/cert/X509Certificate;');
    const session = dex.findType('Ljavax/net/ssl/SSLSession;');
    const checks: readonly Check[] = [
      { name: dex.findString('checkServerTrusted'), parameter: 0, type: certificates, acceptsAll: isEmpty },
      { name: 'any', parameter: 1, type: session, acceptsAll: isAlwaysTrue },
    ];
    this.checks = checks.filter(({ name, type }) => name !== undefined && type !== undefined);
  }

  /** True when no method of the file can be such a check. */
  get isIdle(): boolean {
    return this.checks.length === 0;
  }

  /** @throws MalformedError */
  accepts(method: DexMethod): boolean {
    if (this.isIdle) return false;
    const name = this.dex.methodName(method.index);
    const code = this.methods.codeOf(method);
    const acceptsAll = this.checks.some(
      (check) =>
        (check.name === name || check.name === 'any') &&
        check.acceptsAll(code) &&
        this.dex.parametersOf(this.dex.method(method.index).type, 2)[check.parameter] === check.type,
    );
    return acceptsAll && !this.dex.descriptorOf(this.dex.method(method.index).owner).startsWith(CHECKS_ELSEWHERE);
  }
}
