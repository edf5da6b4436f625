import { isObject, type Json, type Kind, mapParts, namesIn, referenceTo, type Standing, valueAt } from '../document-parts';
import { pascal } from '../name-schemas';
import { type Heirs, heirsIn, withFullMapping } from './full-mapping';
import { inWordsOf31 } from './words-of-3-1';

/** Section of each kind of components. Headers have the members of parameters, and a section of their own. */
const SECTIONS: Readonly<Partial<Record<Kind, string>>> = {
  schema: 'schemas',
  response: 'responses',
  parameter: 'parameters',
  body: 'requestBodies',
  callback: 'callbacks',
};
/** Kinds of parts without members to look at, by what holds them. */
const HELD = new Set(['headers', 'examples', 'links']);

/** A path may lead to another one, which leads on. */
const MAX_HOPS = 10;

const isComponent = ([place, , ...names]: readonly string[]): boolean => place === 'components' && names.length === 1;

/** Brings the references of a document into one form: every one that leads to something leads to a component. */
class References {
  /** Places of the document that something refers to, by the name that they got as a component. */
  private readonly moved = new Map<string, string>();
  private readonly names = new Set<string>();
  private readonly waiting: { readonly section: string; readonly name: string; readonly value: unknown; readonly kind: Kind }[] = [];
  readonly added: Record<string, Record<string, unknown>> = {};

  private readonly heirs: Heirs;

  constructor(private readonly document: Json) {
    this.heirs = heirsIn(valueAt(document, ['components', 'schemas']));
  }

  /** A part of the document with all that stands in it. */
  rewrite(part: unknown, kind: Kind, at: Standing): unknown {
    if (kind === 'reference') return typeof part === 'string' && part.startsWith('#') ? this.leadTo(part, 'schema', at) : part;
    if (!isObject(part)) return part;
    if (kind === 'link') return this.byName(part);
    const shown = this.withExample(part, at.keyword === 'examples' ? 'value' : 'example');
    const whole = kind === 'schema' ? this.schema(shown, at) : shown;
    const inside = mapParts(whole, kind, (inner, of, stands) => this.rewrite(inner, of, stands));
    const reference = inside['$ref'];
    return typeof reference === 'string' && reference.startsWith('#') ? { ...inside, $ref: this.leadTo(reference, kind, at) } : inside;
  }

  /** What became a component, with what became one because of it. */
  finish(): void {
    for (let next = this.waiting.pop(); next !== undefined; next = this.waiting.pop()) {
      const { section, name, value, kind } = next;
      (this.added[section] ??= {})[name] = this.rewrite(value, kind, { keyword: section, name });
    }
  }

  /** A path whose content stands elsewhere, with it. One that leads nowhere stays as it is. */
  pathAt(item: unknown): unknown {
    let found = item;
    for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string' && hops < MAX_HOPS; hops += 1) {
      const { $ref, ...beside } = found;
      const target = this.find(namesIn(String($ref)));
      if (!isObject(target)) return item;
      found = { ...target, ...beside };
    }
    return found;
  }

  private schema(part: Json, { keyword, name }: Standing): Json {
    return withFullMapping(inWordsOf31(part), keyword === 'schemas' ? name : undefined, this.heirs);
  }

  /** An example is data. Authors all the same write a reference to a named one in its place, and linters follow it. */
  private exampleAt(data: unknown): unknown {
    const reference = isObject(data) && Object.keys(data).length === 1 ? data['$ref'] : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#')) return data;
    const named = this.find(namesIn(reference));
    return isObject(named) && 'value' in named ? named['value'] : data;
  }

  /** A part that has an example of itself, as `example` or as the `value` of a named one. */
  private withExample(part: Json, member: 'example' | 'value'): Json {
    return member in part ? { ...part, [member]: this.exampleAt(part[member]) } : part;
  }

  /** A link that names its operation by the operation's own name, where it has one. */
  private byName(link: Json): Json {
    const { operationRef, ...rest } = link;
    const target = typeof operationRef === 'string' && operationRef.startsWith('#') ? this.find(namesIn(operationRef)) : undefined;
    return isObject(target) && typeof target['operationId'] === 'string' ? { ...rest, operationId: target['operationId'] } : link;
  }

  private leadTo(reference: string, kind: Kind, { keyword }: Standing): string {
    const names = namesIn(reference);
    const section = HELD.has(keyword) ? keyword : SECTIONS[kind];
    if (isComponent(names) || section === undefined) return referenceTo(names);
    const value = this.find(names);
    if (value === undefined) return reference;
    return referenceTo(['components', section, this.move({ section, names, value, kind })]);
  }

  /** What the document has there, also behind references. */
  private find(names: readonly string[], hops = 0): unknown {
    let value: unknown = this.document;
    for (const name of names) {
      if (isObject(value) && typeof value['$ref'] === 'string' && !Object.hasOwn(value, name) && hops < MAX_HOPS)
        value = this.find(namesIn(value['$ref']), hops + 1);
      value = valueAt(value, [name]);
    }
    return value;
  }

  /** @returns the name that this place has as a component */
  private move({ section, names, value, kind }: { section: string; names: readonly string[]; value: unknown; kind: Kind }): string {
    const place = [section, ...names].join('/');
    const known = this.moved.get(place);
    if (known !== undefined) return known;
    const wanted = pascal(names.slice(1).join('_'));
    let name = wanted;
    for (let number = 2; this.isTaken(section, name); number += 1) name = `${wanted}${number}`;
    this.names.add(`${section}/${name}`);
    this.moved.set(place, name);
    this.waiting.push({ section, name, value, kind });
    return name;
  }

  private isTaken(section: string, name: string): boolean {
    return this.names.has(`${section}/${name}`) || valueAt(this.document, ['components', section, name]) !== undefined;
  }
}

/**
 * A document as everything that reads it can take for granted: in the words of OpenAPI 3.1, with each path in its place, and without
 * references but to components.
 * @param document with everything that it refers to in it: see `bundleFolder`. What is broken in it stays as it is.
 */
export function normalForm(document: Json): Json {
  const references = new References(document);
  const { paths } = document;
  const inPlace = isObject(paths)
    ? Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, references.pathAt(item)]))
    : paths;
  const rewritten = references.rewrite({ ...document, paths: inPlace }, 'document', { keyword: '' }) as Json;
  references.finish();
  const components = Object.entries(references.added).reduce<Json>(
    (all, [section, named]) => ({ ...all, [section]: { ...(isObject(all[section]) ? all[section] : {}), ...named } }),
    isObject(rewritten['components']) ? rewritten['components'] : {},
  );
  return Object.keys(references.added).length > 0 ? { ...rewritten, components } : rewritten;
}
