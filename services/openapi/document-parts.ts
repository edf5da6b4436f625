export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Kinds of parts of an OpenAPI document. A `reference` is a text that refers to a schema. Nothing inside `other` is looked at. */
export type Kind =
  | 'document'
  | 'components'
  | 'item'
  | 'operation'
  | 'parameter'
  | 'body'
  | 'response'
  | 'media'
  | 'encoding'
  | 'callback'
  | 'link'
  | 'schema'
  | 'discriminator'
  | 'reference'
  | 'other';

/** A member's content: a part or a list of parts, or parts under names that the author chose. */
type Held = Kind | { readonly named: Kind };

const named = (kind: Kind): Held => ({ named: kind });
const alike = (members: readonly string[], held: Held): Readonly<Record<string, Held>> =>
  Object.fromEntries(members.map((member) => [member, held]));

/** Headers have the members of parameters. */
const PARAMETER = { schema: 'schema', content: named('media'), examples: named('other') } as const;

/**
 * The members of each kind of part that hold further parts. Any other member is data or plain text, in which `$ref` has no meaning. Its
 * place makes a word a keyword: an author may call a property `default` or a response `example`.
 */
const MEMBERS: Readonly<Record<Kind, Readonly<Record<string, Held>>>> = {
  document: { paths: named('item'), webhooks: named('item'), components: 'components' },
  components: {
    schemas: named('schema'),
    responses: named('response'),
    parameters: named('parameter'),
    headers: named('parameter'),
    requestBodies: named('body'),
    examples: named('other'),
    links: named('link'),
    callbacks: named('callback'),
    pathItems: named('item'),
  },
  item: {
    parameters: 'parameter',
    ...alike(['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'], 'operation'),
  },
  operation: { parameters: 'parameter', requestBody: 'body', responses: named('response'), callbacks: named('callback') },
  parameter: PARAMETER,
  body: { content: named('media') },
  response: { content: named('media'), headers: named('parameter'), links: named('link') },
  media: { schema: 'schema', examples: named('other'), encoding: named('encoding') },
  encoding: { headers: named('parameter') },
  // The keys are addresses, which may be any text.
  callback: { '*': 'item' },
  schema: {
    ...alike(['properties', 'patternProperties', 'dependentSchemas', 'definitions', '$defs'], named('schema')),
    ...alike(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items', 'additionalProperties', 'not', 'if', 'then', 'else'], 'schema'),
    ...alike(['contains', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties', 'contentSchema'], 'schema'),
    discriminator: 'discriminator',
  },
  discriminator: { mapping: named('reference') },
  link: {},
  reference: {},
  other: {},
};

/** The place of a part in the part above it. */
export interface Standing {
  readonly keyword: string;
  /** The author's name for the part, if it has one. */
  readonly name?: string;
}

/** Changes the parts directly inside a part. Everything else stays as it is. */
export function mapParts(part: Json, kind: Kind, change: (inner: unknown, kind: Kind, at: Standing) => unknown): Json {
  const members = MEMBERS[kind];
  const changed = (value: unknown, keyword: string): unknown => {
    const held = Object.hasOwn(members, keyword) ? members[keyword] : members['*'];
    if (held === undefined) return value;
    if (typeof held === 'string') {
      return Array.isArray(value) ? value.map((each) => change(each, held, { keyword })) : change(value, held, { keyword });
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, held.named, { keyword, name })]));
  };
  return Object.fromEntries(Object.entries(part).map(([keyword, value]) => [keyword, changed(value, keyword)]));
}

export function eachPart(part: Json, kind: Kind, visit: (inner: unknown, kind: Kind, at: Standing) => void): void {
  mapParts(part, kind, (inner, of, at) => {
    visit(inner, of, at);
    return inner;
  });
}

/** The kind of the components under a keyword, such as `responses`. */
export function componentKind(keyword: string): Kind {
  const held = Object.hasOwn(MEMBERS.components, keyword) ? MEMBERS.components[keyword] : undefined;
  return typeof held === 'object' ? held.named : 'other';
}

/** Percent-decoded if possible, otherwise unchanged. */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

/** The names in a JSON pointer after its `#`. The pointer may be percent-encoded. */
export function namesIn(reference: string): readonly string[] {
  const [, ...names] = decoded(reference)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names;
}

/** The reference to a place. Characters that a URL cannot have, as in `Page<City>`, are percent-encoded. */
export function referenceTo(names: readonly string[]): string {
  const parts = names.map((name) => encodeURI(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('#', '%23'));
  return ['#', ...parts].join('/');
}

/** The value at a place of a document; undefined if there is none. */
export function valueAt(document: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Json)[name] : undefined),
    document,
  );
}
