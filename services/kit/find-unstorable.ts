import { LONE_SURROGATE, unstorableIn } from '../../plugins/core/unstorable-text';

/** Documents nest about 30 levels. JSON writers and PostgreSQL exhaust their stack at some thousands. */
const MAX_NESTED = 1_000;

interface Place {
  readonly value: unknown;
  readonly name: string;
  readonly above?: Place;
  readonly depth: number;
}

/** `paths./days.get.summary`; only the end of a long path. */
function wayTo(place: Place): string {
  const names: string[] = [];
  for (let at: Place | undefined = place; at?.above !== undefined && names.length < 8; at = at.above) names.unshift(at.name);
  return names.join('.').replaceAll('\0', '').replaceAll(LONE_SURROGATE, '');
}

/**
 * Why PostgreSQL cannot keep a value as JSON, with the place; undefined when it can. Does not recurse, so no depth exhausts the stack.
 * @param value as a reader of JSON or YAML made it
 */
export function findUnstorable(value: unknown): string | undefined {
  const waiting: Place[] = [{ value, name: '', depth: 0 }];
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const { value: part, depth } = place;
    if (depth > MAX_NESTED) return `it is nested more than ${MAX_NESTED} levels deep`;
    const wrong = unstorableIn(place.name) ?? (typeof part === 'string' ? unstorableIn(part) : undefined);
    if (wrong !== undefined) return `it contains ${wrong}, which cannot be stored, at ${wayTo(place)}`;
    if (typeof part !== 'object' || part === null) continue;
    for (const [name, member] of Object.entries(part).reverse()) waiting.push({ value: member, name, above: place, depth: depth + 1 });
  }
  return undefined;
}
