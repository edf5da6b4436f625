export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a part of an OpenAPI document can be. `reference` is a text that leads to a schema, `other` what nothing is looked for in. */
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

/** A member that holds a part or a list of parts, or parts by names that the author chose. */
type Held = Kind | { readonly named: Kind };

const named = (kind: Kind): Held => ({ named: kind });
const alike = (members: readonly string[], held: Held): Readonly<Record<string, Held>> =>
  Object.fromEntries(members.map((member) => [member, held]));

/** Headers have the members of parameters. */
const PARAMETER = { schema: 'schema', content: named('media'), examples: named('other') } as const;

/**
 * Which members of a part hold further parts. What is not listed is somebody's data or plain words, in which `$ref` means nothing: a word
 * is a keyword by where it stands, and an author may call a property `default` or a response `example`.
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
  // By address, which may be any text.
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
  /** The author's name for it, if there is one. */
  readonly name?: string;
}

/** The part with what stands in it changed, one level deep; the rest of it stays as it is. */
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

/** Undone where it can be undone. */
function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

/** The names in a JSON pointer after its `#`, also where it is percent-encoded. */
export function namesIn(reference: string): readonly string[] {
  const [, ...names] = decoded(reference)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names;
}

/** The reference that leads there. A name with signs that no URL has, such as `Page<City>`, is percent-encoded. */
export function referenceTo(names: readonly string[]): string {
  const parts = names.map((name) => encodeURI(name.replaceAll('~', '~0').replaceAll('/', '~1')).replaceAll('#', '%23'));
  return ['#', ...parts].join('/');
}

/** What a document has there. */
export function valueAt(document: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Json)[name] : undefined),
    document,
  );
}
