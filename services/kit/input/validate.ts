import { z } from 'zod';
import { type FieldError, invalidInput } from '../errors';
import { type CallInput } from './body-mode';
import { type KnownParameters, refuseNearMisses } from './near-misses';
import { memberSchemas, takenBy } from './schema-members';

/** How a member is read: as one plain type, or member by member. */
type Coercion = 'text' | 'number' | 'boolean' | Coercions;
/** Members of a schema whose values are converted between plain types. Computed once, when the service is built. */
export type Coercions = ReadonlyMap<string, Coercion>;

/** True for a union of numeric literals. */
function isOfNumbers(schema: unknown): boolean {
  return schema instanceof z.ZodLiteral && [...schema.values].every((value) => typeof value === 'number');
}

function coercionOf(schema: unknown): Coercion | undefined {
  const taken = takenBy(schema);
  if (taken instanceof z.ZodString) return 'text';
  if (taken instanceof z.ZodNumber || isOfNumbers(taken)) return 'number';
  if (taken instanceof z.ZodBoolean) return 'boolean';
  const members = coercionsOf(taken);
  return members.size > 0 ? members : undefined;
}

/** @param schema a route's input schema */
export function coercionsOf(schema: unknown): Coercions {
  const found = new Map<string, Coercion>();
  for (const [name, member] of memberSchemas(schema)) {
    const coercion = coercionOf(member);
    if (coercion) found.set(name, coercion);
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

/** A larger number may have lost digits when it was parsed. As text it would be another number. */
const isExact = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/**
 * Some callers quote numbers and others do not, in JSON too, so both are accepted. A value that cannot be converted stays, and the schema
 * refuses it.
 */
function coerce(value: unknown, to: Coercion): unknown {
  if (to === 'text') return typeof value === 'number' && isExact(value) ? String(value) : value;
  if (typeof to === 'string') return typeof value === 'string' ? coerceText(value, to) : value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return coerceMembers(value, to);
}

function coerceMembers(members: object, coercions: Coercions): Record<string, unknown> {
  const coerced = Object.assign(Object.create(null) as Record<string, unknown>, members);
  for (const [name, to] of coercions) if (name in coerced) coerced[name] = coerce(coerced[name], to);
  return coerced;
}

/** An empty text counts as an absent number or boolean, because forms send every field. */
function coerceText(text: string, to: 'number' | 'boolean'): unknown {
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

/** Describes one complaint in words. A message in the schema takes precedence. Never repeats the value: it may be a secret. */
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
  readonly parameters: KnownParameters;
  readonly status: 400 | 422;
}

/**
 * Applies a schema, which must not check asynchronously.
 * @returns the schema's output
 * @throws ServiceError 400 or 422 with `errors`
 */
export function checkSchema(value: unknown, { schema, status }: { schema: z.ZodType; status: 400 | 422 }): unknown {
  const parsed = schema.safeParse(value, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidInput(parsed.error.issues.map(fieldErrorOf), status);
}

/**
 * Applies a route's schema to the call's input.
 * @returns the schema's output; undefined for a route without a schema
 * @throws ServiceError 400 for a near miss of a parameter; else as {@link checkSchema}
 */
export function validateInput({ fields, files }: Pick<CallInput, 'fields' | 'files'>, validation: Validation): unknown {
  const { schema, coercions, parameters, status } = validation;
  refuseNearMisses({ ...fields, ...Object.fromEntries(files) }, parameters);
  return schema && checkSchema(coerceMembers(fields, coercions), { schema, status });
}
