import { type FieldSchema } from '../../contract/api-document';

/** One member of an input or an answer. */
export interface FieldRow {
  /** With where it lies: `location.latitude`, `posts[].name`. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** Deeper levels are in the OpenAPI document. */
const DEEPEST = 2;

function typeOf(schema: FieldSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(', ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.format === 'binary') return 'file';
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  if (schema.type === 'array') return typeof schema.items === 'object' ? `list of ${typeOf(schema.items)}` : 'list';
  return schema.type ?? 'anything';
}

/** One value by itself, for example a query field. */
export function rowOf(name: string, schema: FieldSchema, isRequired: boolean): FieldRow {
  return { name, type: typeOf(schema), isRequired, description: schema.description ?? '' };
}

/** The members of a value, outer before inner, each name once. */
export function rowsOf(schema: FieldSchema, place = '', depth = 0): readonly FieldRow[] {
  if (depth > DEEPEST) return [];
  const members = Object.entries(schema.properties ?? {}).flatMap(([member, field]) => {
    const name = place === '' ? member : `${place}.${member}`;
    return [rowOf(name, field, schema.required?.includes(member) ?? false), ...rowsOf(field, name, depth + 1)];
  });
  const entries = typeof schema.items === 'object' ? rowsOf(schema.items, `${place}[]`, depth) : [];
  const variants = (schema.anyOf ?? []).flatMap((each) => rowsOf(each, place, depth));
  const all = [...members, ...entries, ...variants];
  return all.filter((row, index) => all.findIndex(({ name }) => name === row.name) === index);
}
