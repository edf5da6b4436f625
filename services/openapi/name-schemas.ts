import { eachPart, isObject, type Json, mapParts, type Standing } from './document-parts';

/** Smaller objects are easier to read in place. */
const MIN_MEMBERS = 2;
/** An object that occurs only once gets a name if it has at least this many members. */
const MIN_MEMBERS_OF_ONE = 5;
/** Members whose names do not describe their content. */
const VAGUE = new Set(['data', 'result', 'results', 'items']);
/** Members whose names need the parent's name to be understood. */
const PARTS = new Set(['before', 'after', 'added', 'removed', 'changed']);

/** The place of a schema: its product, the operation's part of a name, and the member. */
export interface SchemaPlace {
  readonly product: string;
  readonly operation: string;
  readonly member: string;
}

interface Shape {
  /** The schema's own title. */
  readonly title: unknown;
  readonly place: SchemaPlace;
  readonly products: Set<string>;
  uses: number;
}

/** `score_reasons` as `ScoreReasons`. */
export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `places` as `place`: the name of a list's entry. */
const oneOf = (member: string): string => member.replace(/ies$/, 'y').replace(/(?<=x|ss|sh|ch)es$|(?<=[^s])s$/, '');

/** The same shape may have different descriptions in different places. */
const keyOf = ({ description: _, ...shape }: Json): string => JSON.stringify(shape);

const membersOf = ({ properties }: Json): Json => (isObject(properties) ? properties : {});

/**
 * Names the object schemas of a document that are large or occur several times, so that the document has each only once. Show every schema
 * to `count` first, then replace it by `name`.
 */
export class SchemaNames {
  private readonly shapes = new Map<string, Shape>();
  private readonly named = new Map<string, string>();
  /** The content of `components/schemas`. */
  readonly components: Record<string, Json> = {};

  /** @param taken names that other schemas already have */
  constructor(private readonly taken: ReadonlySet<string>) {}

  count(schema: unknown, place: SchemaPlace): void {
    eachSchema(schema, place, (part, at) => {
      if (!isObject(part['properties'])) return;
      const key = keyOf(part);
      const shape = this.shapes.get(key) ?? { title: part['title'], place: at, products: new Set<string>(), uses: 0 };
      shape.uses += 1;
      shape.products.add(at.product);
      this.shapes.set(key, shape);
    });
  }

  /** The schema with references in place of its named parts. @param wanted the name of the schema itself, which gets it at any size */
  name(schema: unknown, wanted?: string): unknown {
    if (!isObject(schema)) return schema;
    const inside = mapParts(schema, 'schema', (part) => this.name(part));
    const key = keyOf(schema);
    const shape = this.shapes.get(key);
    if (!shape || !(wanted !== undefined || this.named.has(key) || isWorthAName(schema, shape))) return inside;
    const { description, ...rest } = inside;
    const name = this.named.get(key) ?? this.freeName(shape, wanted);
    this.named.set(key, name);
    // A shape that is used once keeps its description; otherwise each use has its own.
    this.components[name] ??= shape.uses === 1 && description !== undefined ? { description, ...rest } : rest;
    return { ...(shape.uses > 1 && description !== undefined && { description }), $ref: `#/components/schemas/${name}` };
  }

  private freeName({ title, place: { product, operation, member }, products }: Shape, wanted: string | undefined): string {
    const own = pascal(member);
    const withProduct = VAGUE.has(member) ? [] : [products.size > 1 ? own : pascal(product) + own];
    const titled = typeof title === 'string' ? [title] : [];
    const all = [...titled, ...(wanted === undefined ? withProduct : [wanted]), operation + own];
    for (const name of all) if (this.isFree(name)) return name;
    for (let count = 2; ; count += 1) if (this.isFree(`${operation}${own}${count}`)) return `${operation}${own}${count}`;
  }

  private isFree(name: string): boolean {
    return !(name in this.components) && !this.taken.has(name) && ![...this.named.values()].includes(name);
  }
}

function isWorthAName(schema: Json, { uses, title }: Shape): boolean {
  return title !== undefined || Object.keys(membersOf(schema)).length >= (uses > 1 ? MIN_MEMBERS : MIN_MEMBERS_OF_ONE);
}

/** Every schema in a schema, outer before inner. */
function eachSchema(schema: unknown, place: SchemaPlace, visit: (part: Json, place: SchemaPlace) => void): void {
  if (!isObject(schema)) return;
  visit(schema, place);
  eachPart(schema, 'schema', (part, _, at) => eachSchema(part, { ...place, member: memberAt(place.member, at) }, visit));
}

function memberAt(above: string, { keyword, name = '' }: Standing): string {
  if (keyword === 'properties') return PARTS.has(name) ? `${above}_${name}` : name;
  return keyword === 'items' ? oneOf(above) : above;
}
