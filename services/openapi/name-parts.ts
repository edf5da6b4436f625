import { STATUS_CODES } from 'node:http';
import { pascal, type SchemaPlace, SchemaNames } from './name-schemas';
import { isObject, type Json } from './document-parts';

const FORM = 'application/x-www-form-urlencoded';
const UPLOAD = 'multipart/form-data';

/** An operation's media types, with their product and the name of their schema. */
interface Media {
  readonly content: Json;
  readonly place: SchemaPlace;
  readonly wanted: string;
}

const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

/** `POST /weather/days` as `WeatherDays`. The method is added if the path takes several. */
function nameOf(method: string, path: string, methods: Json): string {
  const own = pascal(path);
  return Object.keys(methods).length > 1 && method !== 'get' ? pascal(method) + own : own;
}

/** Every operation, with the name from which its schemas are named. */
function operationsOf(paths: Json): { readonly operation: Json; readonly name: string; readonly product: string }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, operation]) => {
      const tags = objectOf(operation)['tags'];
      const product = String(Array.isArray(tags) ? tags[0] : '').replace(/^api-/, '');
      return { operation: objectOf(operation), name: nameOf(method, path, objectOf(methods)), product };
    }),
  );
}

/** The bodies of an operation's request and responses, in this order. */
function mediaOf({ operation, name, product }: ReturnType<typeof operationsOf>[number]): Media[] {
  const bodies = Object.entries(objectOf(operation['responses'])).map(([status, response]) => {
    const wanted = status === '200' ? `${name}Response` : `${name}Response${status}`;
    return { content: objectOf(objectOf(response)['content']), wanted };
  });
  const request = { content: objectOf(objectOf(operation['requestBody'])['content']), wanted: `${name}Request` };
  return [request, ...bodies].map((each) => ({ ...each, place: { product, operation: name, member: '' } }));
}

/** A form takes what JSON takes, and the key. Its schema therefore has two parts, the first of which is the schema of JSON. */
function formOf(content: Json): Json {
  const [json, form] = ['application/json', FORM].map((type) => objectOf(objectOf(content[type])['schema']));
  const { api_key: key, ...members } = objectOf(form?.['properties']);
  if (!json || key === undefined || JSON.stringify(json) !== JSON.stringify({ ...form, properties: members })) return content;
  const withKey = { allOf: [json, { title: 'KeyInForm', type: 'object', properties: { api_key: key } }] };
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => {
      const isSame = JSON.stringify(objectOf(media)['schema']) === JSON.stringify(form);
      return [type, isSame ? { ...objectOf(media), schema: withKey } : media];
    }),
  );
}

/** Names for responses that several operations share. Most operations have the same refusals. */
class ResponseNames {
  readonly components: Record<string, Json> = {};
  private readonly uses = new Map<string, number>();
  private readonly named = new Map<string, string>();

  count(responses: Json): void {
    for (const response of Object.values(responses)) {
      const key = JSON.stringify(response);
      this.uses.set(key, (this.uses.get(key) ?? 0) + 1);
    }
  }

  name(status: string, response: unknown): unknown {
    const key = JSON.stringify(response);
    if (!isObject(response) || Number(status) < 400 || (this.uses.get(key) ?? 0) < 2) return response;
    const name = this.named.get(key) ?? this.freeName(status, response);
    this.named.set(key, name);
    this.components[name] ??= response;
    return { $ref: `#/components/responses/${name}` };
  }

  /** A name made from the status, and from the first code that no earlier response of this status has. */
  private freeName(status: string, { 'x-codes': codes }: Json): string {
    const reason = pascal(STATUS_CODES[status] ?? `Status ${status}`);
    const list = Array.isArray(codes) ? codes.map(String) : [];
    if (list.every((code) => code === 'gateway_error')) return `Gateway${reason}`;
    const known = Object.entries(this.components).filter(([name]) => name.startsWith(reason));
    if (known.length === 0) return reason;
    const named = new Set(known.flatMap(([, each]) => each['x-codes'] as readonly string[]));
    const own = list.find((code) => !named.has(code));
    return own === undefined ? `${reason}${known.length + 1}` : reason + pascal(own);
  }
}

/**
 * The document with each repeated schema and refusal only once, under a name, instead of a copy in every operation. With all references
 * resolved, it equals the original.
 */
export function nameParts<Document extends object>(document: Document): Document {
  const { paths = {}, components = {} } = document as Partial<Record<string, Json>>;
  const known = objectOf(components['schemas']);
  const names = { schemas: new SchemaNames(new Set(Object.keys(known))), responses: new ResponseNames() };
  for (const each of operationsOf(paths)) {
    names.responses.count(objectOf(each.operation['responses']));
    for (const { content, place } of mediaOf(each)) {
      for (const media of Object.values(formOf(content))) names.schemas.count(objectOf(media)['schema'], place);
    }
  }
  const named = new Map(operationsOf(paths).map((each) => [each.operation, withNames(each, names)]));
  const described = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(objectOf(methods)).map(([method, operation]) => [method, named.get(objectOf(operation))])),
  ]);
  return {
    ...document,
    paths: Object.fromEntries(described) as Json,
    components: { ...components, schemas: { ...known, ...names.schemas.components }, responses: names.responses.components },
  };
}

function withNames(
  each: ReturnType<typeof operationsOf>[number],
  { schemas, responses }: { readonly schemas: SchemaNames; readonly responses: ResponseNames },
): Json {
  const [request, ...answers] = mediaOf(each).map(({ content, wanted }) =>
    Object.fromEntries(
      Object.entries(formOf(content)).map(([type, media]) => [
        type,
        'schema' in objectOf(media)
          ? { ...objectOf(media), schema: schemas.name(objectOf(media)['schema'], type === UPLOAD ? `${wanted}Form` : wanted) }
          : media,
      ]),
    ),
  );
  const { requestBody, responses: own } = each.operation;
  const described = Object.entries(objectOf(own)).map(([status, response], index) => {
    const content = answers[index] ?? {};
    const whole = Object.keys(content).length === 0 ? response : { ...objectOf(response), content };
    return [status, responses.name(status, response) === response ? whole : responses.name(status, response)];
  });
  return {
    ...each.operation,
    ...(isObject(requestBody) && { requestBody: { ...requestBody, content: request } }),
    responses: Object.fromEntries(described) as Json,
  };
}
