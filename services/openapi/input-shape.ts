import { z } from 'zod';

/** The object that a route's input schema checks, found behind refinements and transformations; undefined if there is none. */
export function inputShapeOf(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return inputShapeOf(schema.def.in);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodReadonly) {
    return inputShapeOf(schema.def.innerType);
  }
  return undefined;
}
