import { z } from 'zod';
import { type Given } from '../contract/endpoint';

type Shape = (value: unknown) => unknown;

const shapes = new WeakMap<z.ZodType, Shape>();

function objectShape(members: Readonly<Record<string, z.ZodType>>): Shape {
  const shaped = Object.entries(members).map(([name, member]) => [name, shapeOf(member)] as const);
  return (value) => {
    const answer: Record<string, unknown> = {};
    for (const [name, shape] of shaped) answer[name] = shape(Reflect.get(value as object, name));
    return answer;
  };
}

function makeShape(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = shapeOf(schema.unwrap() as z.ZodType);
    return (value) => (value === null || value === undefined ? value : inner(value));
  }
  if (schema instanceof z.ZodCodec) return (value) => schema.def.reverseTransform(value, { value, issues: [] });
  if (schema instanceof z.ZodArray) {
    const each = shapeOf(schema.element as z.ZodType);
    return (value) => (value as readonly unknown[]).map(each);
  }
  return schema instanceof z.ZodObject && schema.def.catchall === undefined ? objectShape(schema.shape) : (value) => value;
}

function shapeOf(schema: z.ZodType): Shape {
  const known = shapes.get(schema);
  if (known) return known;
  const made = makeShape(schema);
  shapes.set(schema, made);
  return made;
}

/**
 * Shapes a response for sending: the members that its schema names, dates as text. Nothing is validated, because the compiler and the tests
 * do that, and validation would cost more than the rest of a large response.
 */
export function shapeAnswer<Schema extends z.ZodType>(schema: Schema, value: Given<z.output<Schema>>): z.input<Schema> {
  return shapeOf(schema)(value) as z.input<Schema>;
}
