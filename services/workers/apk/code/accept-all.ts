import { type DexCode } from './dex-code';
import { type DexMethod, type DexMethods } from './dex-methods';
import { type MethodCode } from './instructions';

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
export class AcceptAllFinder {
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
