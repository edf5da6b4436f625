import { isObject, type Json } from '../document-parts';

const NULL = { type: 'null' };

/** OpenAPI 3.0 says beside a bound whether it is outside of the range; 3.1 gives such a bound by itself. */
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
 * `nullable` as a type or a variant. By the letter of 3.0 it says nothing beside `$ref` or `allOf`; generators write it there all the same
 * and mean it.
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

/** A schema without the words of OpenAPI 3.0 that 3.1 has no meaning for, wherever its document says that it is of. What stands in it stays. */
export const inWordsOf31 = (schema: Json): Json => withNull(withOpenBounds(schema));
