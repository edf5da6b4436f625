import { isObject, type Json, type Kind, mapParts, namesIn, valueAt } from './document-parts';

/** Deeper than our own responses, and far below the length at which a chain of references would exhaust a stack. */
const DEEPEST = 24;
/**
 * Maximum size of the schemas of one operation, in parts and members. A document that is folded into itself would otherwise be written out
 * a million times.
 */
const MAX_PARTS = 5_000;
/** Maximum size of all operations of a document, in the same measure. GitHub's 1,223 operations take 400,000. */
const MAX_PARTS_OF_DOCUMENT = 1_000_000;
/** The size that an operation may have after earlier ones used up the document's; less if the document has very many. */
const MIN_PARTS = 300;
/** Characters of text, examples and enumerated values that count as one member. */
const CHARACTERS_OF_A_PART = 100;

interface Place {
  readonly depth: number;
  /** The references followed to get here. A repeated one is a cycle. */
  readonly through: readonly string[];
  /** True if the schema is a part of an `allOf`. */
  readonly isPart: boolean;
}

/**
 * Resolves what an operation of a checked OpenAPI document (see `SoundParts`) refers to, and reduces it to the few keywords that the
 * reference's pages and samples know: no `$ref`, `allOf` as one object, `oneOf` as `anyOf`. A cycle, or a schema that is too deep or too
 * large, is replaced by the name of the component.
 */
export class ReferenceResolver {
  private left = MAX_PARTS;
  private leftOfDocument = MAX_PARTS_OF_DOCUMENT;
  private readonly least: number;
  private readonly texts = new WeakMap<object, number>();

  /**
   * @param document with the components that are referred to
   * @param operations number of its operations that are resolved
   */
  constructor(
    private readonly document: Json,
    operations: number,
  ) {
    this.least = Math.min(MIN_PARTS, MAX_PARTS_OF_DOCUMENT / 2 / operations);
  }

  /** Resolves one operation or parameter. Each has the same budget, until the document's is used up. */
  resolve(part: unknown, kind: Kind): unknown {
    const budget = Math.max(this.least, Math.min(MAX_PARTS, this.leftOfDocument));
    this.left = budget;
    const whole = this.walk(part, kind, { depth: 0, through: [], isPart: false });
    this.leftOfDocument -= budget - this.left;
    return whole;
  }

  private walk(part: unknown, kind: Kind, place: Place): unknown {
    if (!isObject(part)) return part;
    const reference = part['$ref'];
    if (typeof reference === 'string') return this.follow(reference, part, { kind, place });
    // The parts that hold schemas make up the operation, so they are always written out.
    if (kind !== 'schema') return this.inside(HAS_EXAMPLES.has(kind) ? this.withoutLongData(part) : part, kind, place);
    if (!this.spend(1 + Object.keys(part).length + namesOf(part) + this.textIn(part))) return CUT;
    return flat(this.inside(withVariants(part, place), kind, place));
  }

  /** Takes from the budget. @returns false, with nothing taken, if there is not enough. The rest of the operation keeps what is left. */
  private spend(parts: number): boolean {
    const isThere = parts < this.left;
    if (isThere) this.left -= parts;
    return isThere;
  }

  /** Examples that many operations share would be copied into each. */
  private withoutLongData(part: Json): Json {
    if (!('example' in part || 'examples' in part)) return part;
    const { example, examples, ...rest } = part;
    return this.spend(this.lengthOf([example, examples], part)) ? part : rest;
  }

  /** The size of a schema's descriptions, examples and values. */
  private textIn(schema: Json): number {
    return this.lengthOf(
      Object.entries(schema).flatMap(([keyword, value]) => (DATA.has(keyword) ? [value] : [])),
      schema,
    );
  }

  private lengthOf(data: readonly unknown[], of: Json): number {
    const known = this.texts.get(of);
    if (known !== undefined) return known;
    const length = Math.floor(JSON.stringify(data).length / CHARACTERS_OF_A_PART);
    this.texts.set(of, length);
    return length;
  }

  private inside(part: Json, kind: Kind, place: Place): Json {
    return mapParts(part, kind, (inner, of, { keyword }) =>
      this.walk(inner, of, { ...place, depth: place.depth + 1, isPart: keyword === 'allOf' }),
    );
  }

  private follow(
    reference: string,
    { $ref: _, ...beside }: Json,
    { kind, place }: { readonly kind: Kind; readonly place: Place },
  ): unknown {
    // A member costs something even if none of its content fits.
    this.left -= 1;
    const isTooMuch = place.depth > DEEPEST || (kind === 'schema' && this.left <= 0);
    const names = namesIn(reference);
    if (isTooMuch || place.through.includes(reference)) return { title: names.at(-1), ...beside };
    const whole = this.walk(valueAt(this.document, names), kind, {
      ...{ depth: place.depth + 1, through: [...place.through, reference], isPart: place.isPart },
    });
    if (whole === CUT) return { title: names.at(-1), ...beside };
    return isObject(whole) ? { ...whole, ...beside } : {};
  }
}

/** Replaces a schema that does not fit. If the schema has a name, the name replaces it instead. */
const CUT: Json = {};

/** The size of property names, four of which count as one part. They stay even if nothing else of them fits. */
const namesOf = ({ properties }: Json): number => (isObject(properties) ? Math.floor(Object.keys(properties).length / 4) : 0);

const HAS_EXAMPLES: ReadonlySet<Kind> = new Set(['media', 'parameter']);
/** Members of a schema that are not schemas and may be long. */
const DATA = new Set(['description', 'title', 'pattern', 'enum', 'const', 'default', 'example', 'examples', 'required']);

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/**
 * The variants that a discriminator selects, each with its value. A schema that names its variants only in the mapping has what they all
 * have in common: inside one of them it stays as it is.
 */
function withVariants(schema: Json, { isPart }: Place): Json {
  const { discriminator, oneOf, anyOf, ...common } = schema;
  if (!isObject(discriminator) || !isObject(discriminator['mapping'])) return schema;
  const values = new Map(Object.entries(discriminator['mapping']).map(([value, reference]) => [reference, value]));
  const listed = [...listOf(oneOf), ...listOf(anyOf)];
  if (listed.length === 0 && isPart) return schema;
  const variants = listed.length > 0 ? listed : [...values.keys()].map(($ref) => ({ $ref }));
  return { ...common, oneOf: variants.map((variant) => ({ ...variant, 'x-variant': values.get(variant['$ref']) })) };
}

function flat(schema: Json): Json {
  const { allOf, oneOf, ...rest } = schema;
  const parts = listOf(allOf);
  const merged = parts.length === 0 ? rest : merge([...parts, rest]);
  const variants = [...listOf(merged['anyOf']), ...listOf(oneOf)];
  return variants.length === 0 ? merged : { ...merged, anyOf: variants };
}

/** Merges schemas that all apply to one value: every member, and for each keyword the last value. */
function merge(parts: readonly Json[]): Json {
  const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as Json;
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? (part['required'] as unknown[]) : []));
  return {
    ...(Object.assign({}, ...parts) as Json),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}
