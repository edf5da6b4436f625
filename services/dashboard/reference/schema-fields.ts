import { type FieldSchema } from '../contract/api-document';

/** One member of an input or a response, in words. */
export interface FieldRow {
  /** Including its path: `location.latitude`, `posts[].name`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Limits and default; may be empty. */
  readonly notes: string;
  /** The document's description in Markdown; may be empty. */
  readonly text: string;
}

/** Deeper than any response. */
const DEEPEST = 6;

const counts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 20 });
/** A longer list of values is cut. */
const MAX_VALUES = 40;

function typeOf(schema: FieldSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return valuesOf(schema.enum);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.format === 'binary') return 'file';
  if (schema.type === undefined) return schema.title ?? (schema.properties ? 'object' : 'anything');
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  if (typeof schema.type !== 'string') return schema.type.join(' or ') + format;
  return schema.type === 'array' && typeof schema.items === 'object' ? `list of ${typeOf(schema.items)}` : schema.type + format;
}

function valuesOf(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((each) => JSON.stringify(each));
  return shown.join(', ') + (values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : '');
}

/** Zod's bounds of a safe integer are not worth showing. */
const isBound = (value: number | undefined): value is number => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;

function range(least: number | undefined, most: number | undefined, unit: string): string[] {
  const end = unit === '' ? '' : ` ${unit}`;
  if (isBound(least) && isBound(most))
    return [least === most ? `${counts.format(least)}${end}` : `${counts.format(least)} to ${counts.format(most)}${end}`];
  if (isBound(least)) return [`at least ${counts.format(least)}${end}`];
  return isBound(most) ? [`at most ${counts.format(most)}${end}`] : [];
}

function notesOf(schema: FieldSchema): string {
  const limits = [
    ...(schema.deprecated === true ? ['deprecated'] : []),
    ...(schema.readOnly === true ? ['only in responses'] : []),
    ...(schema.writeOnly === true ? ['only in requests'] : []),
    ...range(schema.minLength, schema.maxLength, 'characters'),
    ...(isBound(schema.exclusiveMinimum) ? [`more than ${counts.format(schema.exclusiveMinimum)}`] : []),
    ...range(schema.minimum, schema.maximum, ''),
    ...range(schema.minItems, schema.maxItems, 'entries'),
    ...(isBound(schema.exclusiveMaximum) ? [`less than ${counts.format(schema.exclusiveMaximum)}`] : []),
    ...(schema.multipleOf === undefined ? [] : [`a multiple of ${counts.format(schema.multipleOf)}`]),
    ...(schema.uniqueItems === true ? ['no entry twice'] : []),
    ...(schema.pattern === undefined ? [] : [`of the form ${schema.pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ].join('; ');
  return limits === '' ? '' : `${limits.charAt(0).toUpperCase()}${limits.slice(1)}.`;
}

/** The present position in the value, and the shapes listed so far, with the names of their members. */
interface Place {
  readonly name: string;
  readonly depth: number;
  readonly known: Map<string, string>;
}

/** The rows of a member and of those inside it. A shape that is in the list already is named instead of listed again. */
function memberRows(field: FieldSchema, isRequired: boolean, place: Place): FieldRow[] {
  const { name, known } = place;
  const row = fieldOf(name, field, isRequired);
  const members = inside(field, { ...place, depth: place.depth + 1 });
  const shape = JSON.stringify({ ...field, description: undefined });
  const like = members.length > 1 ? known.get(shape) : undefined;
  if (like !== undefined) return [{ ...row, notes: `${row.notes} Members as of ${like}.`.trim() }];
  known.set(shape, name);
  return [row, ...members];
}

/** The rows inside a value: an object's members, or those of a list's entries. */
function inside(schema: FieldSchema, place: Place): FieldRow[] {
  const { name, depth } = place;
  if (depth > DEEPEST) return [];
  const variants = (schema.anyOf ?? []).flatMap((each) => inside(each, place));
  const entries = typeof schema.items === 'object' ? inside(schema.items, { ...place, name: `${name}[]` }) : [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([member, field]) =>
    memberRows(field, schema.required?.includes(member) ?? false, { ...place, name: name === '' ? member : `${name}.${member}` }),
  );
  return [...members, ...entries, ...variants];
}

/** Every member of a value, each once, outer before inner. */
export function fieldsOf(schema: FieldSchema): FieldRow[] {
  const rows = inside(schema, { name: '', depth: 0, known: new Map() });
  return rows.filter((row, index) => rows.findIndex(({ name }) => name === row.name) === index);
}

/** One value by itself, for example a query field. */
export function fieldOf(name: string, schema: FieldSchema, isRequired: boolean): FieldRow {
  return { name, type: typeOf(schema), isRequired, notes: notesOf(schema), text: schema.description ?? '' };
}
