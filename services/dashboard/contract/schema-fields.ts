import { type FieldSchema } from './api-document';

/** One member of an input or an answer, in words. */
export interface FieldRow {
  /** With where it lies: `location.latitude`, `posts[].name`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Limits, default and description; may be empty. */
  readonly notes: string;
}

/** Deeper than any answer goes. */
const DEEPEST = 6;

const counts = new Intl.NumberFormat('en-GB');

function typeOf(schema: FieldSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.format === 'binary') return 'file';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'object';
  if (schema.type === undefined) return 'anything';
  if (typeof schema.type !== 'string') return schema.type.join(' or ');
  return schema.type === 'array' && typeof schema.items === 'object' ? `list of ${typeOf(schema.items)}` : schema.type;
}

/** Zod's bounds of a safe integer say nothing. */
const isBound = (value: number | undefined): value is number => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  const end = unit === '' ? '' : ` ${unit}`;
  if (isBound(least) && isBound(most))
    return [least === most ? `${counts.format(least)}${end}` : `${least} to ${counts.format(most)}${end}`];
  if (isBound(least)) return [`at least ${counts.format(least)}${end}`];
  return isBound(most) ? [`at most ${counts.format(most)}${end}`] : [];
}

function notesOf(schema: FieldSchema): string {
  const limits = [
    ...range(schema.minLength, schema.maxLength, 'characters'),
    ...(isBound(schema.exclusiveMinimum) ? [`more than ${schema.exclusiveMinimum}`] : []),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minItems, schema.maxItems, 'entries'),
    ...(isBound(schema.exclusiveMaximum) ? [`less than ${schema.exclusiveMaximum}`] : []),
    ...(schema.pattern === undefined ? [] : [`of the form ${schema.pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ].join('; ');
  const text = schema.description ?? '';
  return [limits === '' ? '' : `${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`, text].filter((each) => each !== '').join(' ');
}

/** What lies inside a value: of an object its members, of a list those of its entries. */
function inside(schema: FieldSchema, name: string, depth: number): FieldRow[] {
  if (depth > DEEPEST) return [];
  const variants = (schema.anyOf ?? []).flatMap((each) => inside(each, name, depth));
  const entries = typeof schema.items === 'object' ? inside(schema.items, `${name}[]`, depth) : [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([member, field]) => {
    const own = name === '' ? member : `${name}.${member}`;
    const isRequired = schema.required?.includes(member) ?? false;
    return [{ name: own, type: typeOf(field), isRequired, notes: notesOf(field) }, ...inside(field, own, depth + 1)];
  });
  return [...members, ...entries, ...variants];
}

/**
 * Every member of a value, each once, outer before inner.
 * @param levels how deep; all unless given
 */
export function fieldsOf(schema: FieldSchema, levels = DEEPEST): FieldRow[] {
  const rows = inside(schema, '', DEEPEST - levels);
  return rows.filter((row, index) => rows.findIndex(({ name }) => name === row.name) === index);
}

/** One value by itself, for example a query field. */
export function fieldOf(name: string, schema: FieldSchema, isRequired: boolean): FieldRow {
  return { name, type: typeOf(schema), isRequired, notes: notesOf(schema) };
}
