import { type DexCode } from './dex-code';
import { type CodeBudget, type DexMethod, type DexMethods } from './dex-methods';
import { BudgetSpent, ConstantFields, type FollowedFile, type Saw, ValueFollower } from './follow-values';
import { type MethodCode } from './instructions';
import { BUILDERS, KNOWN_METHODS, type KnownMethod, MAX_PARAMETERS } from './known-methods';
import { mayNameSecret } from './secret-names';

/** Indexes of methods in calls have 16 bits. */
const MAX_METHODS = 65_536;

/** Marks of methods that can give a sign: in any call (`alone`), or only beside a text that names a secret (`withName`). */
const MARK = { withName: 1, alone: 2 } as const;

/** Units of work for each unit of code that is searched for texts, and for the first look at a text. */
const COST = { texts: 3, text: 200 } as const;

/** A result with one of these names describes a secret without containing it. */
const HARMLESS = /message|mask|redact|obfuscat|hash|hide|sanitiz|encrypt|length|size|status|class|error|reason/i;

type Follow = NonNullable<ReturnType<FollowedFile['callOf']>>;

interface Candidate {
  /** Index of its class; undefined when it may be any class. */
  readonly owner: number | undefined;
  readonly known: KnownMethod;
}

/** Finds signs in the values of a file's code. */
export class ValueSigns {
  private readonly known = new Map<number, Follow>();
  /** Marks of methods, by index. */
  private readonly marked = new Uint8Array(MAX_METHODS);
  private readonly harmless = new Map<number, boolean>();
  private readonly secretTexts = new Map<number, boolean>();
  private readonly fields: ConstantFields;
  private readonly file: FollowedFile;
  private readonly initializer: number | undefined;
  /** True when constant bytes can be a sign. */
  private takesBytes = false;
  /** True when no method of the file can show a sign. */
  readonly isIdle: boolean;

  /** @throws MalformedError */
  constructor(
    private readonly dex: DexCode,
    private readonly methods: DexMethods,
    private readonly budget: CodeBudget,
  ) {
    this.fields = new ConstantFields(['out', 'err'].map((name) => dex.findField('Ljava/lang/System;', name)));
    this.initializer = dex.findString('<clinit>');
    this.isIdle = !this.findKnown();
    this.file = {
      dex,
      methods,
      callOf: (method) => this.known.get(method),
      isHarmless: (method) => this.isHarmless(method),
      builders: new Set(BUILDERS.map((each) => dex.findType(each))),
      byteArrays: dex.findType('[B'),
      fields: this.fields,
    };
  }

  /** @returns true when a call of a known method can be a sign */
  private findKnown(): boolean {
    const byName = new Map<number | undefined, Candidate[]>();
    for (const known of KNOWN_METHODS) {
      const owner = known.owner === undefined ? undefined : this.dex.findType(known.owner);
      if (known.owner !== undefined && owner === undefined) continue;
      for (const name of known.names) {
        const index = this.dex.findString(name);
        byName.set(index, [...(byName.get(index) ?? []), { owner, known }]);
      }
    }
    byName.delete(undefined);
    let isAny = false;
    for (let index = 0; index < Math.min(this.dex.methodCount, MAX_METHODS); index++) {
      const named = byName.get(this.dex.methodName(index));
      if (named) isAny = this.mark(index, named) || isAny;
    }
    return isAny;
  }

  private mark(index: number, candidates: readonly Candidate[]): boolean {
    const method = this.dex.method(index);
    const ofClass = candidates.filter(({ owner }) => owner === undefined || owner === method.owner);
    if (ofClass.length === 0) return false;
    this.budget.units -= COST.text;
    const signature = this.budget.units < 0 ? '' : this.dex.signatureOf(method.type, MAX_PARAMETERS);
    const known = ofClass.find((each) => each.known.signatures.includes(signature))?.known;
    if (!known) return false;
    const name = this.dex.text(method.name);
    const { sign } = known;
    this.known.set(index, ({ args, saw }) =>
      known.follow({ args, method: name, signature, saw: (what) => sign !== undefined && saw(sign, what) }),
    );
    if (sign === undefined) return false;
    this.marked[index] = sign === 'secrets_logged' ? MARK.withName : MARK.alone;
    this.takesBytes ||= sign === 'constant_iv';
    return true;
  }

  /** The initialiser of a class puts constants into its fields. */
  private setsFields({ index }: DexMethod): boolean {
    return this.takesBytes && this.dex.methodName(index) === this.initializer;
  }

  /** A cheap check that is false for most methods, at a tenth of the cost of following their values. */
  private mayShow(code: MethodCode): boolean {
    const mark = code.highestMark(this.marked);
    if (mark !== MARK.withName) return mark === MARK.alone;
    this.budget.units -= code.length * COST.texts;
    for (const text of code.texts()) {
      if (this.budget.units < 0) return false;
      if (this.maySecret(text)) return true;
    }
    return false;
  }

  private maySecret(text: number): boolean {
    const known = this.secretTexts.get(text);
    if (known !== undefined) return known;
    this.budget.units -= COST.text;
    const may = mayNameSecret(this.dex.text(text));
    this.secretTexts.set(text, may);
    return may;
  }

  private isHarmless(method: number): boolean {
    const known = this.harmless.get(method) ?? HARMLESS.test(this.dex.text(this.dex.methodName(method)));
    this.harmless.set(method, known);
    return known;
  }

  /** Records a static field. */
  readonly declare = (field: number, flags: number): void => this.fields.declare(field, flags);

  /**
   * Follows the values of one method.
   * @returns false when the budget was spent before the end
   * @throws MalformedError
   */
  look(method: DexMethod, saw: Saw): boolean {
    const code = this.methods.codeOf(method);
    this.budget.units -= code.length;
    if (this.budget.units < 0) return false;
    if (!this.setsFields(method) && !this.mayShow(code)) return this.budget.units >= 0;
    try {
      new ValueFollower(this.file, method, this.budget, saw).run();
      return true;
    } catch (error) {
      if (error instanceof BudgetSpent) return false;
      throw error;
    }
  }
}
