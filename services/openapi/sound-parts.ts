export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper than descriptions go, and far below the depth at which a reader's stack ends. */
const DEEPEST = 100;

/** What a part of a document refers to, and the first thing that is wrong with it. */
interface Findings {
  /** Components, as `kind/name`. */
  readonly targets: Set<string>;
  problem?: string;
}

/** A part of a JSON pointer as the name that it stands for. */
export const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Json)[name] : undefined;
}

/** Says which parts of an OpenAPI document can be used, so that a broken part costs no more than itself and what refers to it. */
export class SoundParts {
  private readonly broken: Set<string>;

  /** @param all the document's components, by kind and name */
  constructor(private readonly all: Json) {
    const found = new Map<string, Findings>();
    for (const [kind, named] of Object.entries(all)) {
      for (const [name, value] of Object.entries(isObject(named) ? named : {})) found.set(`${kind}/${name}`, this.look(value));
    }
    this.broken = new Set([...found].flatMap(([component, { problem }]) => (problem === undefined ? [] : [component])));
    // The loop also visits what it adds, so that it ends when nothing more refers to a broken component.
    for (const name of this.broken) {
      for (const [component, { targets }] of found) if (targets.has(name)) this.broken.add(component);
    }
  }

  isSound(kind: string, name: string): boolean {
    return !this.broken.has(`${kind}/${name}`);
  }

  /** @returns why this part of the document cannot be used; undefined when it can */
  problemOf(part: unknown): string | undefined {
    const { targets, problem } = this.look(part);
    if (problem !== undefined) return problem;
    return [...targets].some((target) => this.broken.has(target)) ? 'a $ref in it leads to a component that cannot be used' : undefined;
  }

  private look(part: unknown): Findings {
    const findings: Findings = { targets: new Set() };
    this.walk(part, 0, findings);
    return findings;
  }

  private walk(value: unknown, depth: number, findings: Findings): void {
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEEPEST) return void (findings.problem ??= `it is nested more than ${DEEPEST} deep`);
    for (const [name, member] of Object.entries(value)) {
      // An object under this name is the schema of a member that is called so.
      if (name === '$ref' && !isObject(member)) this.follow(member, findings);
      else this.walk(member, depth + 1, findings);
    }
  }

  private follow(reference: unknown, findings: Findings): void {
    if (typeof reference !== 'string') return void (findings.problem ??= 'a $ref in it is no text');
    const [start, place, ...names] = reference.split('/').map(unescaped);
    const [kind, name] = names;
    const isHere = start === '#' && place === 'components' && kind !== 'securitySchemes';
    if (!isHere) return void (findings.problem ??= 'a $ref in it leads out of the components of the document');
    if (name === undefined || names.reduce(memberOf, this.all as unknown) === undefined) {
      return void (findings.problem ??= 'a $ref in it leads nowhere');
    }
    findings.targets.add(`${kind}/${name}`);
  }
}
