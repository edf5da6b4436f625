import { eachPart, isObject, type Json, mapParts, type Standing } from './document-parts';

/** Smaller objects are easier to read where they stand. */
const MIN_MEMBERS = 2;
/** An object that stands in one place alone gets a name from this size on. */
const MIN_MEMBERS_OF_ONE = 5;
/** Members that say nothing of what is in them. */
const VAGUE = new Set(['data', 'result', 'results', 'items']);
/** Members that say something only with what they are of. */
const PARTS = new Set(['before', 'after', 'added', 'removed', 'changed']);

/** The place of a schema: the product that it belongs to, the operation's part of a name, and the member. */
export interface SchemaPlace {
  readonly product: string;
  readonly operation: string;
  readonly member: string;
}

interface Shape {
  /** The title that the schema gives itself. */
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

/** `places` as `place`, for what is in a list. */
const oneOf = (member: string): string => member.replace(/ies$/, 'y').replace(/(?<=x|ss|sh|ch)es$|(?<=[^s])s$/, '');

/** The same shape in two places may be described differently. */
const keyOf = ({ description: _, ...shape }: Json): string => JSON.stringify(shape);

const membersOf = ({ properties }: Json): Json => (isObject(properties) ? properties : {});

/**
 * Gives names to the objects of a document's schemas, so that each stands in it once: those that are found in several places, and large ones.
 * Every schema is shown to `count` first and then replaced by `name`.
 */
export class SchemaNames {
  private readonly shapes = new Map<string, Shape>();
  private readonly named = new Map<string, string>();
  /** What to write under `components/schemas`. */
  readonly components: Record<string, Json> = {};

  /** @param taken names that other schemas have already */
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

  /** The schema with what has a name referred to. @param wanted the name of the schema itself, which it gets whatever its size */
  name(schema: unknown, wanted?: string): unknown {
    if (!isObject(schema)) return schema;
    const inside = mapParts(schema, 'schema', (part) => this.name(part));
    const key = keyOf(schema);
    const shape = this.shapes.get(key);
    if (!shape || !(wanted !== undefined || this.named.has(key) || isWorthAName(schema, shape))) return inside;
    const { description, ...rest } = inside;
    const name = this.named.get(key) ?? this.freeName(shape, wanted);
    this.named.set(key, name);
    // A shape that is described alike everywhere keeps its words.
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
