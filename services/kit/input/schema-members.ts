import { z } from 'zod';

/** The schema of what callers send: without defaults, transformations and refinements. */
export function takenBy(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return takenBy(schema.def.innerType);
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodCatch || schema instanceof z.ZodReadonly)
    return takenBy(schema.def.innerType);
  return schema instanceof z.ZodPipe ? takenBy(schema.def.in) : schema;
}

/** Names and schemas of an object's members, found through unions and transformations. */
export function memberSchemas(schema: unknown): [name: string, schema: unknown][] {
  const inner = takenBy(schema);
  if (inner instanceof z.ZodObject) return Object.entries(inner.shape);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(memberSchemas);
  if (inner instanceof z.ZodIntersection) return [...memberSchemas(inner.def.left), ...memberSchemas(inner.def.right)];
  return [];
}
