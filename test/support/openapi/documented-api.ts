import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import { writeOut } from './write-out';

/** An answer as a caller hears it. */
export interface HeardAnswer {
  readonly method: string;
  /** Path, with or without a query. */
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

interface Content {
  readonly [mediaType: string]: {
    readonly schema?: unknown;
    readonly example?: unknown;
    readonly examples?: Readonly<Record<string, { readonly description?: string; readonly value: unknown }>>;
  };
}

interface DescribedHeader {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly schema?: { readonly type?: string };
}

interface DescribedResponse {
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, DescribedHeader>>;
  readonly 'x-codes'?: readonly string[];
}

export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
  readonly 'x-exampleFile'?: { readonly filename: string; readonly contentType: string; readonly base64: string };
}

export interface DescribedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components?: { readonly headers?: Readonly<Record<string, DescribedHeader>> };
}

/** Headers that HTTP itself and gateways add; what they mean is no matter of an API's description. */
const OF_HTTP = new Set([
  'cache-control', 'connection', 'content-length', 'content-type', 'date', 'keep-alive', 'server', 'transfer-encoding', 'vary', 'via',
  'x-content-type-options', 'x-kong-proxy-latency', 'x-kong-response-latency', 'x-kong-upstream-latency',
]); // prettier-ignore

const bareType = (value: unknown): string =>
  String(value ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase() ?? '';

/** A place in the document, as the fragment of a URI. */
export function pointer(...segments: readonly string[]): string {
  return segments.map((name) => `/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
}

/** An OpenAPI document that answers, requests and examples are held against. */
export class DocumentedApi {
  private readonly ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    logger: false,
    code: { optimize: false },
  });
  private readonly compiled = new Map<string, ValidateFunction>();

  /** Without references. */
  readonly document: DescribedDocument;

  constructor(document: DescribedDocument) {
    this.document = writeOut(document);
    this.ajv.addSchema(this.document, 'document');
  }

  /**
   * The operation that tells of a request. OpenAPI has no word for a route that takes every method: such a one stands under GET, under POST,
   * or both. HEAD is told of by GET, and a method that a path does not take by what the path has.
   */
  find(method: string, url: string): { readonly operation: DescribedOperation; readonly place: string } | undefined {
    const path = url.replace(/[?#].*$/s, '').replace(/(?<=.)\/$/, '');
    const methods = this.document.paths[path];
    const wanted = method === 'GET' || method === 'HEAD' ? 'get' : 'post';
    const taken = methods && (wanted in methods ? wanted : Object.keys(methods)[0]);
    const operation = taken === undefined ? undefined : methods?.[taken];
    return operation && { operation, place: pointer('paths', path, taken ?? '') };
  }

  /** What an answer does or says that its operation does not tell; empty where they agree. */
  contradictions(answer: HeardAnswer): readonly string[] {
    const { method, url, status } = answer;
    const found = this.find(method, url);
    if (!found) return [`${method} ${url} is not described`];
    const response = found.operation.responses[status];
    if (!response) return [`status ${status} is not described`];
    return [
      ...this.bodyContradictions(answer, response, `${found.place}${pointer('responses', String(status))}`),
      ...this.headerContradictions(answer, response),
    ];
  }

  /** Why a value does not satisfy the schema at a place of the document, a JSON pointer. Empty when it does. */
  violations(place: string, value: unknown): readonly string[] {
    const validate = this.compiled.get(place) ?? this.ajv.compile({ $ref: `document#${place}` });
    this.compiled.set(place, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`);
  }

  private bodyContradictions(answer: HeardAnswer, { content = {}, 'x-codes': codes }: DescribedResponse, place: string): readonly string[] {
    const { method, headers, body } = answer;
    const type = bareType(headers['content-type']);
    // No body follows HEAD, and a page's preflight has none.
    if (body === '' && (method === 'HEAD' || method === 'OPTIONS' || Object.keys(content).length === 0)) return [];
    const described = Object.keys(content).find((each) => each === type || (each.endsWith('/*') && type.startsWith(each.slice(0, -1))));
    if (described === undefined) return [`content type ${type || 'none'} is not described`];
    if (!/[/+]json$/.test(type)) return [];
    const value: unknown = JSON.parse(body);
    const code = (value as { code?: unknown } | null)?.code;
    const unknown = codes && !codes.includes(String(code)) ? [`code ${String(code)} is not described`] : [];
    return [...unknown, ...this.violations(`${place}${pointer('content', described, 'schema')}`, value)];
  }

  private headerContradictions({ headers }: HeardAnswer, { headers: described = {} }: DescribedResponse): readonly string[] {
    // The components' headers may stand in any answer: the document says so.
    const all = { ...this.document.components?.headers, ...described };
    const byName = new Map(Object.entries(all).map(([name, header]) => [name.toLowerCase(), this.headerAt(header)]));
    const missing = [...byName].filter(([name, { required }]) => required === true && headers[name] === undefined);
    const wrong = [...byName].filter(
      ([name, { schema }]) => headers[name] !== undefined && schema?.type === 'integer' && !/^\d+$/.test(String(headers[name])),
    );
    const untold = Object.keys(headers).filter((name) => headers[name] !== undefined && !OF_HTTP.has(name) && !byName.has(name));
    return [
      ...missing.map(([name]) => `header ${name} is missing`),
      ...wrong.map(([name]) => `header ${name} is no number`),
      ...untold.map((name) => `header ${name} is not described`),
    ];
  }

  private headerAt(header: DescribedHeader): DescribedHeader {
    const name = header.$ref?.split('/').at(-1);
    return name === undefined ? header : (this.document.components?.headers?.[name] ?? {});
  }
}
