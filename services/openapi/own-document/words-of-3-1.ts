import { isObject, type Json } from '../document-parts';

const NULL = { type: 'null' };

/** In OpenAPI 3.0 a flag beside a bound excludes the bound from the range. OpenAPI 3.1 has a keyword of its own for such a bound. */
function withOpenBounds(schema: Json): Json {
  const bounds = [['minimum', 'exclusiveMinimum'], ['maximum', 'exclusiveMaximum']] as const; // prettier-ignore
  return bounds.reduce<Json>((all, [bound, open]) => {
    if (typeof all[open] !== 'boolean') return all;
    const { [bound]: value, [open]: isOpen, ...rest } = all;
    return value === undefined ? rest : { ...rest, [isOpen ? open : bound]: value };
  }, schema);
}

const withNullIn = (list: readonly unknown[], value: unknown, isNull: (entry: unknown) => boolean): readonly unknown[] =>
  list.some(isNull) ? list : [...list, value];

/**
 * `nullable` as a type or a variant. Strictly, OpenAPI 3.0 gives it no meaning beside `$ref` or `allOf`, but generators write it there and
 * mean it.
 */
function withNull(schema: Json): Json {
  const { nullable, ...rest } = schema;
  if (typeof nullable !== 'boolean') return schema;
  if (!nullable) return rest;
  if ('$ref' in rest || Array.isArray(rest['allOf'])) {
    const { title, description, ...shape } = rest;
    return { ...(title !== undefined && { title }), ...(description !== undefined && { description }), anyOf: [shape, NULL] };
  }
  const { type, enum: values, anyOf, oneOf } = rest;
  const isNullType = (entry: unknown): boolean => isObject(entry) && entry['type'] === 'null';
  return {
    ...rest,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(type) && { type: withNullIn(type, 'null', (each) => each === 'null') }),
    ...(Array.isArray(values) && { enum: withNullIn(values, null, (each) => each === null) }),
    ...(Array.isArray(anyOf) && { anyOf: withNullIn(anyOf, NULL, isNullType) }),
    ...(Array.isArray(oneOf) && { oneOf: withNullIn(oneOf, NULL, isNullType) }),
  };
}

/** Replaces the keywords of OpenAPI 3.0 that 3.1 does not know, whatever version the document declares. Schemas inside stay as they are. */
export const inWordsOf31 = (schema: Json): Json => withNull(withOpenBounds(schema));
