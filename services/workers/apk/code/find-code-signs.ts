import { LIMITS } from '../limits';
import { type CheckedFacts } from '../report';
import { type Unprotected, UNPROTECTED, unprotectedParts } from './elf-protections';
import { type CodeBudget, type DexCode, type MethodBody } from './dex-code';

/** What code can show without being run. Each has a rule of its own. */
export type CodeSign =
  Unprotected | 'javascript_interface' | 'tls_errors_ignored' | 'trusts_everything' | 'ecb' | 'runs_commands' | 'loads_code' | 'packed';

export interface CodeSighting {
  readonly sign: CodeSign;
  /** Place of the sign, such as `classes.dex: java.lang.Runtime.exec`. */
  readonly place: string;
}

/** The day on which the tables below last changed. */
const CODE_SIGNS_AS_OF = '2026-11-29';

/** Methods whose mere use is a sign: of which class, and its name. */
const METHODS: readonly (readonly [CodeSign, string, string])[] = [
  ['javascript_interface', 'android.webkit.WebView', 'addJavascriptInterface'],
  ['tls_errors_ignored', 'android.webkit.SslErrorHandler', 'proceed'],
  ['trusts_everything', 'org.apache.http.conn.ssl.AllowAllHostnameVerifier', '<init>'],
  ['runs_commands', 'java.lang.Runtime', 'exec'],
  ['runs_commands', 'java.lang.ProcessBuilder', 'start'],
  ['loads_code', 'dalvik.system.DexClassLoader', '<init>'],
  ['loads_code', 'dalvik.system.InMemoryDexClassLoader', '<init>'],
];

/** Beginnings of texts. RSA is not among them: there `ECB` is a word without a meaning. */
const TEXTS: readonly (readonly [CodeSign, string])[] = ['AES/ECB', 'DES/ECB', 'DESede/ECB', 'Blowfish/ECB'].map((text) => ['ecb', text]);

/** The marks of programs that hide an app's code: the class that unpacks it, and the library that does the work. */
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

const descriptorOf = (className: string): string => `L${className.replaceAll('.', '/')};`;
const classNameOf = (descriptor: string): string => descriptor.slice(1, -1).replaceAll('/', '.');

const CHECK = 'checkServerTrusted';
const VERIFY = 'verify';
const RETURN_VOID = 0x000e;
/** Sets a register to one, and returns it. */
const CONST_ONE = { mask: 0xf0ff, value: 0x1012 };
const RETURN = { mask: 0x00ff, value: 0x000f };

/** Collects what the code of an app shows, in bounded time. */
export class CodeSignFinder {
  private readonly found: CodeSighting[] = [];
  private readonly budget: CodeBudget;

  constructor(members: number = LIMITS.codeMembers) {
    this.budget = { members };
  }

  /** @returns false when not all of the file was looked at. @throws MalformedError */
  look(file: string, code: DexCode): boolean {
    for (const [sign, owner, method] of METHODS)
      if (code.refersTo(descriptorOf(owner), method)) this.add(sign, `${file}: ${owner}.${method}`);
    for (const [sign, prefix] of TEXTS) {
      const text = code.findText(prefix);
      if (text !== undefined) this.add(sign, `${file}: "${text}"`);
    }
    for (const { name, classes } of PACKERS)
      for (const each of classes) if (code.findType(descriptorOf(each)) !== undefined) this.add('packed', `${file}: ${each} (${name})`);
    return this.lookAtBodies(file, code);
  }

  /** @param libraries names of native libraries */
  lookAtLibraries(libraries: readonly string[]): void {
    const names = new Set(libraries);
    for (const { name, libraries: mark } of PACKERS)
      for (const library of names) if (mark.test(library)) this.add('packed', `${library} (${name})`);
  }

  /** Looks at the contents of a native library. @throws MalformedError */
  lookAtLibrary(file: string, bytes: Buffer): void {
    for (const sign of unprotectedParts(bytes, file) ?? []) this.add(sign, file);
  }

  private lookAtBodies(file: string, code: DexCode): boolean {
    const session = code.findType('Ljavax/net/ssl/SSLSession;');
    const certificates = code.findType('[Ljava/security/cert/X509Certificate;');
    const bodies = code.bodiesOf([CHECK, VERIFY], this.budget);
    for (let next = bodies.next(); ; next = bodies.next()) {
      if (next.done === true) return next.value;
      const body = next.value;
      const [first, second] = code.parametersOf(body.prototype, 2);
      const acceptsAll =
        body.name === CHECK
          ? isEmpty(body) && certificates !== undefined && first === certificates
          : isAlwaysTrue(body) && session !== undefined && second === session;
      if (acceptsAll) this.add('trusts_everything', `${file}: ${classNameOf(code.descriptorOf(body.owner))}.${body.name}`);
    }
  }

  private add(sign: CodeSign, place: string): void {
    if (this.found.length < LIMITS.listed) this.found.push({ sign, place });
  }

  list(): readonly CodeSighting[] {
    return this.found;
  }
}

const isEmpty = ({ units, length }: MethodBody): boolean => length === 1 && units[0] === RETURN_VOID;

function isAlwaysTrue({ units: [set = 0, end = 0], length }: MethodBody): boolean {
  return (
    length === 2 && (set & CONST_ONE.mask) === CONST_ONE.value && (end & RETURN.mask) === RETURN.value && ((set >> 8) & 0xf) === end >> 8
  );
}

/** @param ok false when some code could not be looked at */
export function checkedCode(ok: boolean): CheckedFacts {
  const names = new Set([...METHODS, ...TEXTS].map(([sign]) => sign));
  return { source: 'code_signs', as_of: CODE_SIGNS_AS_OF, ok, entries: names.size + UNPROTECTED.length + PACKERS.length };
}
