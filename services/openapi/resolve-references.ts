import { isObject, type Json, type Kind, mapParts, namesIn, valueAt } from './document-parts';

/** Deeper than our own answers go, and far below where a chain of references would end a stack. */
const DEEPEST = 24;
/** What the schemas of one operation may grow to, in parts and members. A document that is folded into itself would otherwise be written out a million times. */
const MAX_PARTS = 5_000;
interface Place {
  readonly depth: number;
  /** The references that lead here: one of them again is a cycle. */
  readonly through: readonly string[];
  /** It is one of several that a value is at once. */
  readonly isPart: boolean;
}

/**
 * Writes out what an operation of a checked OpenAPI document (see `SoundParts`) refers to, in the few words that the reference's pages and
 * samples know: no `$ref`, `allOf` as one object, `oneOf` as `anyOf`. A cycle, or a schema that is too deep or too much, ends
 * in the name of the component.
 */
export class ReferenceResolver {
  private left = MAX_PARTS;

  /** @param document with the components that are referred to */
  constructor(private readonly document: Json) {}

  /** One operation or parameter. Each has the same budget. */
  resolve(part: unknown, kind: Kind): unknown {
    this.left = MAX_PARTS;
    return this.walk(part, kind, { depth: 0, through: [], isPart: false });
  }

  private walk(part: unknown, kind: Kind, place: Place): unknown {
    if (!isObject(part)) return part;
    const reference = part['$ref'];
    if (typeof reference === 'string') return this.follow(reference, part, { kind, place });
    // What holds the schemas is what makes an operation, and is written out whatever they are.
    if (kind !== 'schema') return this.inside(part, kind, place);
    this.left -= 1 + Object.keys(part).length;
    return this.left > 0 ? flat(this.inside(withVariants(part, place), kind, place)) : {};
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
    const isTooMuch = place.depth > DEEPEST || (kind === 'schema' && this.left <= 0);
    const names = namesIn(reference);
    if (isTooMuch || place.through.includes(reference)) return { title: names.at(-1), ...beside };
    const whole = this.walk(valueAt(this.document, names), kind, {
      ...{ depth: place.depth + 1, through: [...place.through, reference], isPart: place.isPart },
    });
    return isObject(whole) ? { ...whole, ...beside } : {};
  }
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/**
 * The shapes that a discriminator tells apart, each with its value beside it. A schema that has them in its mapping alone is what they have
 * in common: as a part of one of them it stands for itself.
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

/** What holds for a value that is all of them: every member, and the last word of each keyword. */
function merge(parts: readonly Json[]): Json {
  const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as Json;
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? (part['required'] as unknown[]) : []));
  return {
    ...(Object.assign({}, ...parts) as Json),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}
