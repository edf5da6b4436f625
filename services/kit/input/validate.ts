import { z } from 'zod';
import { type FieldError, invalidInput } from '../errors';

type Coercion = 'number' | 'boolean';
/** Which fields of a schema take text as a number or boolean; found once when the service is built. */
export type Coercions = ReadonlyMap<string, Coercion>;

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.def.innerType);
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodCatch || schema instanceof z.ZodReadonly)
    return unwrap(schema.def.innerType);
  return schema instanceof z.ZodPipe ? unwrap(schema.def.in) : schema;
}

function coercionOf(schema: unknown): Coercion | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodNumber) return 'number';
  return inner instanceof z.ZodBoolean ? 'boolean' : undefined;
}

/** Looks through unions and transformations for objects. */
function shapesOf(schema: unknown): Readonly<Record<string, unknown>>[] {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return [inner.shape];
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(shapesOf);
  if (inner instanceof z.ZodIntersection) return [...shapesOf(inner.def.left), ...shapesOf(inner.def.right)];
  return [];
}

/** @param schema a route's input schema */
export function coercionsOf(schema: z.ZodType | undefined): Coercions {
  const found = new Map<string, Coercion>();
  for (const shape of shapesOf(schema)) {
    for (const [name, field] of Object.entries(shape)) {
      const coercion = coercionOf(field);
      if (coercion) found.set(name, coercion);
    }
  }
  return found;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
};

/** An empty text is an absent number or boolean: forms send every field. Text that cannot be read stays, for the schema to refuse. */
function coerce(text: string, to: Coercion): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  if (to === 'number') return NUMBER.test(trimmed) ? Number(trimmed) : text;
  const known = trimmed.toLowerCase();
  return Object.hasOwn(BOOLEANS, known) ? BOOLEANS[known] : text;
}

function plural(count: number | bigint, one: string, many: string): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}

function amount(origin: string, bound: number | bigint): string {
  if (origin === 'string') return plural(bound, 'character', 'characters');
  if (origin === 'array' || origin === 'set' || origin === 'map') return plural(bound, 'entry', 'entries');
  return String(bound);
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

/** One complaint in words; a message written into the schema wins over this. Never repeats the value: it may be a secret. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? 'has the wrong type';
    case 'too_small':
      if (issue.origin === 'string' && Number(issue.minimum) === 1) return 'must not be empty';
      return `must ${boundVerb(issue.origin)} ${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `must ${boundVerb(issue.origin)} ${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.origin, issue.maximum)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return 'is not valid';
  }
}

function boundVerb(origin: string): string {
  return origin === 'array' || origin === 'set' || origin === 'map' ? 'hold' : origin === 'string' ? 'have' : 'be';
}

function fieldErrorOf(issue: z.core.$ZodIssue): FieldError {
  return { field: issue.path.length === 0 ? 'request' : issue.path.map(String).join('.'), message: issue.message };
}

export interface Validation {
  readonly schema: z.ZodType | undefined;
  readonly coercions: Coercions;
  readonly status: 400 | 422;
}

/**
 * Applies a route's schema, which must not check asynchronously, to what was read.
 * @param textual names of the fields that are text from a query or form
 * @returns the schema's output; undefined for a route without a schema
 * @throws ServiceError 400 or 422 with `errors`
 */
export function validateInput(fields: Record<string, unknown>, textual: ReadonlySet<string>, validation: Validation): unknown {
  const { schema, coercions, status } = validation;
  if (!schema) return undefined;
  for (const [name, to] of coercions) {
    const value = fields[name];
    if (typeof value === 'string' && textual.has(name)) fields[name] = coerce(value, to);
  }
  const parsed = schema.safeParse(fields, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error.issues.map(fieldErrorOf), status);
}
