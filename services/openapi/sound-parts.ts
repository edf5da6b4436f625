import { eachPart, isObject, type Json, type Kind, namesIn, valueAt } from './document-parts';

/** Deeper than descriptions are, and far below the depth at which a reader's stack ends. */
const DEEPEST = 100;

/** What a part of a document refers to, and the first problem in it. */
interface Findings {
  /** Components, as `kind/name`. */
  readonly targets: Set<string>;
  problem?: string;
}

/** Decides which parts of an OpenAPI document can be used, so that a broken part costs only itself and whatever refers to it. */
export class SoundParts {
  private readonly broken: Set<string>;

  /** @param all the document's components, by kind and name */
  constructor(private readonly all: Json) {
    const found = new Map<string, Findings>();
    eachPart(all, 'components', (value, kind, { keyword, name = '' }) => found.set(`${keyword}/${name}`, this.look(value, kind)));
    this.broken = new Set([...found].flatMap(([component, { problem }]) => (problem === undefined ? [] : [component])));
    // The loop also visits names that it adds, so it ends when nothing else refers to a broken component.
    for (const name of this.broken) {
      for (const [component, { targets }] of found) if (targets.has(name)) this.broken.add(component);
    }
  }

  isSound(kind: string, name: string): boolean {
    return !this.broken.has(`${kind}/${name}`);
  }

  /** @returns why this operation cannot be described; undefined when it can */
  problemOf(operation: Json): string | undefined {
    const { targets, problem } = this.look(operation, 'operation');
    if (problem !== undefined) return problem;
    return [...targets].some((target) => this.broken.has(target)) ? 'a $ref in it refers to a component that cannot be used' : undefined;
  }

  private look(part: unknown, kind: Kind): Findings {
    const findings: Findings = { targets: new Set() };
    this.walk(part, kind, { depth: 0, findings });
    return findings;
  }

  private walk(part: unknown, kind: Kind, { depth, findings }: { readonly depth: number; readonly findings: Findings }): void {
    if (!isObject(part)) return;
    if (depth > DEEPEST) return void (findings.problem ??= `it is nested more than ${DEEPEST} deep`);
    if ('$ref' in part) this.follow(part['$ref'], findings);
    eachPart(part, kind, (inner, of) => this.walk(inner, of, { depth: depth + 1, findings }));
  }

  private follow(reference: unknown, findings: Findings): void {
    if (typeof reference !== 'string') return void (findings.problem ??= 'a $ref in it is not a text');
    const [place, kind, ...names] = namesIn(reference);
    if (!reference.startsWith('#'))
      return void (findings.problem ??= `a $ref in it refers outside the document: ${reference.slice(0, 80)}`);
    const isHere = place === 'components' && kind !== undefined && kind !== 'securitySchemes';
    const component = `${kind}/${names[0]}`;
    if (!isHere || valueAt(this.all, [kind, ...names]) === undefined)
      return void (findings.problem ??= `a $ref in it leads nowhere: ${reference.slice(0, 80)}`);
    findings.targets.add(component);
  }
}
