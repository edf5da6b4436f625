import { isObject, type Json, unescaped } from './sound-parts';

/** Deeper than our own answers go, and far below where a chain of references would end a stack. */
const DEEPEST = 24;
/** What one operation may grow to. A document that is folded into itself would otherwise be written out a million times. */
const MAX_PARTS = 5_000;
/** Members whose values are somebody's data, in which `$ref` and `allOf` mean nothing. */
const DATA = new Set(['example', 'default', 'enum', 'const', 'value']);

const nameOf = (reference: string): string => unescaped(reference.slice(reference.lastIndexOf('/') + 1));

interface Place {
  readonly depth: number;
  /** The references that lead here: one of them again is a cycle. */
  readonly through: readonly string[];
}

/**
 * Writes out what an operation of a checked OpenAPI document (see `SoundParts`) refers to, in the few words that the reference's pages and
 * samples know: no `$ref`, `allOf` as one object, `oneOf` as `anyOf`, `nullable` as a type. A cycle, or what is too deep or too much, ends in
 * the name of the component.
 */
export class ReferenceResolver {
  private left = MAX_PARTS;

  /** @param document with the components that are referred to */
  constructor(private readonly document: Json) {}

  /** One operation, parameter, body or schema. Each has the same budget. */
  resolve(part: unknown): unknown {
    this.left = MAX_PARTS;
    return this.walk(part, { depth: 0, through: [] });
  }

  private walk(part: unknown, place: Place): unknown {
    this.left -= 1;
    if (Array.isArray(part)) return this.left > 0 ? part.map((each) => this.walk(each, place)) : [];
    if (!isObject(part)) return part;
    const reference = part['$ref'];
    if (typeof reference === 'string') return this.follow(reference, part, place);
    if (this.left <= 0) return {};
    const members = Object.entries(part).map(([name, value]): [string, unknown] => [
      name,
      DATA.has(name) ? value : this.walk(value, isObject(value) ? { ...place, depth: place.depth + 1 } : place),
    ]);
    return flat(Object.fromEntries(members));
  }

  private follow(reference: string, { $ref: _, ...beside }: Json, place: Place): unknown {
    const isEnd = place.through.includes(reference) || place.depth > DEEPEST || this.left <= 0;
    if (isEnd) return { title: nameOf(reference), ...beside };
    const found = reference
      .slice(2)
      .split('/')
      .map(unescaped)
      .reduce(memberOf, this.document as unknown);
    const whole = this.walk(found, { depth: place.depth + 1, through: [...place.through, reference] });
    return isObject(whole) ? { ...whole, ...beside } : {};
  }
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

function flat(schema: Json): Json {
  const { allOf, oneOf, nullable, ...rest } = schema;
  const parts = listOf(allOf);
  const merged = parts.length === 0 ? rest : merge([...parts, rest]);
  const variants = [...listOf(merged['anyOf']), ...listOf(oneOf)];
  const one = variants.length === 0 ? merged : { ...merged, anyOf: variants };
  if (nullable !== true) return one;
  return typeof one['type'] === 'string' ? { ...one, type: [one['type'], 'null'] } : one;
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
