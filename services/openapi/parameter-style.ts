/** How OpenAPI writes a parameter into a call. A missing member stands for the default of the parameter's place. */
export interface ParameterStyle {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly style?: string | undefined;
  readonly explode?: boolean | undefined;
  readonly allowReserved?: boolean | undefined;
  /** The parameter has a `content` instead of a `schema`: its value is written as JSON, whatever its style. */
  readonly isJson?: boolean | undefined;
}

/** Kinds of value besides a single text. `any` may be a text, a list or an object. */
export type ValueKind = 'list' | 'object' | 'any';

interface Style {
  readonly begin: string;
  /** Text between the entries of a value that does not repeat the parameter's name. */
  readonly within: string;
  /** Text between exploded entries. */
  readonly between: string;
  readonly isNamed: boolean;
}

const SIMPLE: Style = { begin: '', within: ',', between: ',', isNamed: false };
const FORM: Style = { begin: '', within: ',', between: '&', isNamed: true };
const STYLES: Readonly<Record<string, Style>> = {
  'path simple': SIMPLE,
  'path label': { begin: '.', within: ',', between: '.', isNamed: false },
  'path matrix': { begin: ';', within: ',', between: ';', isNamed: true },
  'query form': FORM,
  'query spaceDelimited': { ...FORM, within: '%20' },
  'query pipeDelimited': { ...FORM, within: '%7C' },
  'header simple': SIMPLE,
  // OpenAPI 3.2's style. No server reads the `&` between cookies that earlier versions imply.
  'cookie form': { ...FORM, between: '; ' },
};
const DEFAULTS = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' } as const;

/** A URL cannot have half a surrogate pair. */
export const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
const encoded = (text: string): string => encodeURIComponent(wellFormed(text));
/** Leaves reserved characters unescaped, unless they end a query or a part of it. */
const withReserved = (text: string): string => encoded(text).replaceAll(/%(?:3A|2F|3F|40|24|2C|3B|3D)/g, decodeURIComponent);

function encoderOf({ in: place, allowReserved }: ParameterStyle): (text: string) => string {
  if (place === 'header') return (text) => text;
  return allowReserved === true && place === 'query' ? withReserved : encoded;
}

/** True for lists too. */
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Members under their own names. There is no rule for a list as a member: frameworks read each entry under the member's name. */
function pairsOf(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).flatMap(([name, each]) =>
    (Array.isArray(each) ? each : [each]).map((entry: unknown): [string, unknown] => [name, entry]),
  );
}

/**
 * `filter[rain]=true`, with one pair for each entry of a list. There is no rule for members inside members; they are written the same way.
 */
function deepMembers(name: string, value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map((each: unknown) => [name, each]);
  if (!isObject(value)) return [[name, value]];
  return Object.entries(value).flatMap(([member, each]) => deepMembers(`${name}[${member}]`, each));
}

/**
 * A parameter's value as it is written in a call, by the style of its place: what replaces `{…}` in a path, the `name=value` pairs of a
 * query or of the `Cookie` header, or the value of a header. Percent-encoded, except in a header. A style without a rule for the value,
 * such as `pipeDelimited` with a single text, is written in the default style of the place.
 */
export function writeParameter(parameter: ParameterStyle, value: unknown): string {
  const { name, in: place, style: named = DEFAULTS[place], isJson = false } = parameter;
  const encode = encoderOf(parameter);
  const pair = ([key, each]: readonly [string, unknown]): string => `${encode(key)}=${encode(textOf(each))}`;
  if (named === 'deepObject' && place === 'query' && !isJson) return deepMembers(name, value).map(pair).join('&');
  const style = STYLES[`${place} ${named}`] ?? STYLES[`${place} ${DEFAULTS[place]}`] ?? FORM;
  const { begin, within, between, isNamed } = style;
  const { explode = style.isNamed && named === 'form' } = parameter;
  const ownName = isNamed ? encode(name) : '';
  // In a path's matrix style, an empty text has no `=`.
  const one = (text: string): string => begin + (isNamed && (text !== '' || begin === '') ? `${ownName}=${text}` : ownName + text);
  if (isJson) return one(encode(isJsonText(value) ? value : (JSON.stringify(value) ?? '')));
  if (!isObject(value)) return one(encode(textOf(value)));
  const entries = Object.entries(value);
  const texts = entries.map(([, each]) => encode(textOf(each)));
  if (entries.length === 0) return one('');
  if (!Array.isArray(value))
    return explode
      ? begin + pairsOf(value).map(pair).join(between)
      : one(entries.map(([key], at) => `${encode(key)}${within}${texts[at]}`).join(within));
  if (!explode) return one(texts.join(within));
  return begin + texts.map((text) => (isNamed ? `${ownName}=${text}` : text)).join(between);
}

function isJsonText(value: unknown): value is string {
  return typeof value === 'string' && parsed(value) !== undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The part of a schema that says which kinds of value it accepts. */
interface TypedSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly properties?: unknown;
  readonly anyOf?: readonly TypedSchema[] | undefined;
}

/** The kind of value that a schema accepts; undefined for a single text or number. */
export function kindOf(schema: TypedSchema): ValueKind | undefined {
  const kinds = new Set((schema.anyOf ?? [schema]).flatMap(kindsOf));
  const [only] = kinds;
  return kinds.size > 1 && (kinds.has('list') || kinds.has('object')) ? 'any' : only;
}

function kindsOf({ type, properties, anyOf }: TypedSchema): (ValueKind | undefined)[] {
  if (anyOf) return anyOf.flatMap(kindsOf);
  if (type === undefined) return [properties ? 'object' : undefined];
  const types = (typeof type === 'string' ? [type] : type).filter((each) => each !== 'null');
  return types.map((each) => (each === 'array' ? 'list' : each === 'object' ? 'object' : undefined));
}

/** Reads a value given as a text, for example in a field of a page: JSON, or a list's entries separated by commas. */
export function readValue(given: unknown, kind: ValueKind | undefined): unknown {
  if (kind === undefined || typeof given !== 'string') return given;
  const value = parsed(given);
  if (isObject(value)) return value;
  return kind === 'list' ? given.split(',').map((each) => each.trim()) : given;
}
