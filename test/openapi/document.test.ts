import { listProblems } from '../../plugins/core/problems';
import { isRefunded } from '../../plugins/core/catalogue/refunds';
import { apiDocument } from '../../services/dashboard/contract/api-document';
import { operationsIn, readOperations } from '../../services/dashboard/storefront/operations';
import { otherSuccesses, sendersOf } from '../../services/dashboard/reference/error-codes';
import { type Route } from '../../services/kit/service/define-service';
import { type ApiDocumentParts, describeApi } from '../../services/openapi/describe-api';
import { listErrors } from '../../services/openapi/error-table';
import { REMEDIES } from '../../services/openapi/remedies';
import { inputShapeOf, refusalsOf } from '../../services/openapi/describe-operation';
import { CATALOGUE, PRODUCTS } from '../support/catalogue';
import { buildDocument } from '../support/openapi/build-document';
import { type DescribedDocument, DocumentedApi, pointer } from '../support/openapi/documented-api';
import { SERVICES } from '../support/services';
import { checkOpenApi } from '../support/openapi/check-openapi';

interface Field {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly allOf?: readonly Field[];
}

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: Record<string, string[]>[];
  readonly parameters?: { name: string; in: string; schema: Field }[];
  readonly requestBody?: { content: Record<string, { example?: unknown; schema?: Field }> };
  readonly responses: Record<string, { content?: Record<string, object>; 'x-codes'?: string[] }>;
}

const served: object = JSON.parse(JSON.stringify(buildDocument('https://api.example.com', CATALOGUE)));
const api = new DocumentedApi(served as DescribedDocument);
/** As it is read: with what it refers to. */
const document = api.document as unknown as {
  openapi: string;
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

function membersOf({ properties = {}, allOf = [] }: Field, place: string): { at: string; schema: Field }[] {
  const own = Object.entries(properties).flatMap(([name, schema]) => [
    { at: place + name, schema },
    ...membersOf(schema, `${place}${name}.`),
  ]);
  return [...own, ...allOf.flatMap((part) => membersOf(part, place))];
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toBe('3.1.0');
    await checkOpenApi(served);
  });

  it.each(['api-aadhaar', 'api-gst'])('says where a customer reads of %s that it is for lawful, authorised purposes only', (id) => {
    expect(PRODUCTS.find((product) => product.id === id)?.description).toContain('only for lawful, authorised purposes');
    expect(document.tags.find(({ name }) => name === id)?.description).toContain('only for lawful, authorised purposes');
  });

  it('has the shape that the reference page reads, with an example to start from for a query and an upload', () => {
    const { document } = describeApi(served as ApiDocumentParts, CATALOGUE, new Map());
    const read = readOperations(JSON.stringify(document));
    expect(read['x-left-out']).toEqual([]);
    expect(operationsIn(read).length).toBeGreaterThan(40);
    expect(read.paths['/ip']?.['get']?.parameters?.find(({ name }) => name === 'ip')?.example).toBe('8.8.8.8');
    for (const path of ['/app/analyze', '/image/background_remover']) {
      const operation = read.paths[path]?.['post'];
      const properties = Object.values(operation?.requestBody?.content['multipart/form-data']?.schema?.properties ?? {});
      expect(properties.map(({ format }) => format)).toEqual(['binary']);
      expect(operation?.['x-exampleFile']?.base64.length).toBeGreaterThan(100);
    }
  });

  it('names the gateway that it was made for, and no other', () => {
    expect(document.servers).toEqual([{ url: 'https://api.example.com' }]);
  });

  it('has the routes of every product, with the methods that it takes', () => {
    const routes = PRODUCTS.flatMap(({ id, routes }) =>
      routes.map(({ method, path }) => ({ id, method, methods: document.paths[path] ?? {}, path })),
    );
    for (const { id, method, methods, path } of routes) {
      const taken = Object.keys(methods);
      expect([path, method === 'ANY' ? taken.some((each) => /^(?:get|post)$/.test(each)) : taken.includes(method.toLowerCase())]).toEqual([
        path,
        true,
      ]);
      for (const { tags } of Object.values(methods)) expect([path, tags]).toEqual([path, [id]]);
    }
  });

  const formsOf = ({ requestBody }: Operation): readonly (Field | undefined)[] =>
    Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => (/form/.test(type) ? [schema] : []));

  it('says in each form that the key may stand there, and up to which size, but where no form is read for it', () => {
    const forms = operations.flatMap(({ path, operation }) => formsOf(operation).map((form) => ({ path, form })));
    const told = forms.filter(({ form }) =>
      membersOf(form ?? {}, '').some(({ at, schema }) => at === 'api_key' && /1 MiB/.test(schema.description ?? '')),
    );
    expect(forms.length).toBeGreaterThan(10);
    expect([...new Set(forms.map(({ path }) => path))].filter((path) => !told.some((each) => each.path === path))).toEqual([
      '/app/analyze',
      '/app/compare',
    ]);
  });

  it('tells of a picture in the query, of no GET where one cannot succeed, and of the WebSocket of /gst/start', () => {
    const names = document.paths['/image/background_remover']?.['get']?.parameters?.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['image', 'image_base64']));
    for (const step of ['start', 'captcha', 'otp']) expect(Object.keys(document.paths[`/aadhaar/${step}`] ?? {})).toEqual(['post']);
    expect(document.paths['/gst/start']?.['get']?.description).toMatch(/WebSocket/);
  });

  it('has nothing that no service answers', () => {
    const served = Object.values(SERVICES).flatMap((service) => service.routes.map(({ path }) => path as string));
    expect(Object.keys(document.paths).sort()).toEqual([...new Set(served)].sort());
    const fixed = Object.values(SERVICES).flatMap((service) => service.routes.filter(({ method }) => method !== 'ANY'));
    const told = fixed.map(({ path, method }) => [path, method, method.toLowerCase() in (document.paths[path] ?? {})]);
    expect(told).toEqual(fixed.map(({ path, method }) => [path, method, true]));
  });

  it.each(operations.map(({ path, method, operation }): [string, string, Operation] => [method, path, operation]))(
    'tells of %s %s what it does, who may call it and how it refuses',
    (_method, path, operation) => {
      expect(operation.summary).not.toBe('');
      expect(operation.description).toMatch(/^[A-Z][^]*[.]$/);
      expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '401', '429']));
      for (const status of ['500', '502', '503', '504']) expect(operation.responses[status]?.['x-codes']).toContain('gateway_error');
      expect(operation.responses['200']?.content).not.toEqual({});
      const ways = operation.security.map((way) => Object.keys(way)[0]);
      expect(ways).toEqual(path.startsWith('/app') ? ['apiKeyHeader'] : ['apiKeyHeader', 'bearer', 'apiKeyQuery']);
    },
  );

  it.each(Object.values(SERVICES).flatMap(({ routes }) => routes.map((route): [string, Route] => [route.path, route])))(
    'tells of %s every status with its codes that the route can send',
    (path, route) => {
      for (const [method, { responses }] of Object.entries(document.paths[path] ?? {})) {
        // Another route of the same path.
        if (route.method !== 'ANY' && route.method.toLowerCase() !== method) continue;
        for (const { status, code } of refusalsOf(route)) expect(responses[status]?.['x-codes']).toContain(code);
        for (const status of Object.keys(route.moreSuccesses ?? {})) expect(responses).toHaveProperty(status);
      }
    },
  );

  it('tells every code of the table somewhere, but those that are never sent', () => {
    const told = new Set(
      operations.flatMap(({ operation }) => Object.values(operation.responses).flatMap((each) => each['x-codes'] ?? [])),
    );
    const missing = listProblems()
      .map(({ code }) => code)
      .filter((code) => !told.has(code));
    // An inactive key reads as unknown; a path that is no route is none of the document's.
    expect(missing).toEqual(['key_inactive', 'route_unknown']);
  });

  it('says of every field of every input what it means', () => {
    const inputs = operations.flatMap(({ path, operation: { parameters = [], requestBody } }) => [
      ...parameters.map(({ name, schema }) => ({ at: `${path} ${name}`, schema })),
      ...Object.values(requestBody?.content ?? {}).flatMap(({ schema = {} }) => membersOf(schema, `${path} `)),
    ]);
    const isSentBack = (at: string): boolean => /^\/app\/compare (?:before|after)\./.test(at);
    // A report is sent back as the answer of /app/analyze has it.
    expect(inputs.filter(({ at, schema }) => !schema.description && !isSentBack(at)).map(({ at }) => at)).toEqual([]);
    expect(inputs.length).toBeGreaterThan(100);
  });

  it('has a sample answer for every operation that answers JSON with a test key', () => {
    const without = operations
      .filter(({ operation }) => {
        const json = operation.responses['200']?.content?.['application/json'];
        return json !== undefined && !('examples' in json);
      })
      .map(({ path }) => path);
    // By default a picture, not JSON.
    expect([...new Set(without)]).toEqual(['/gdplay/thumbnail']);
  });

  it('keeps Aadhaar numbers and OTPs out of URLs', () => {
    const steps = operations.filter(({ path }) => path.startsWith('/aadhaar/'));
    expect(steps.map(({ method, operation: { parameters = [] } }) => [method, parameters])).toEqual(steps.map(() => ['post', []]));
  });

  it('gives every operation an id of its own', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('an answer', () => {
  /** Members wherever they lie: in lists, in choices, or in a schema that has a name of its own. */
  const allMembers = (schema: unknown, at: string): [string, unknown][] => {
    if (typeof schema !== 'object' || schema === null) return [];
    const { properties = {}, items, anyOf = [], oneOf = [] } = schema as Record<string, never>;
    const own = Object.entries(properties).flatMap(([name, field]): [string, unknown][] => {
      const place = at === '' ? name : `${at}.${name}`;
      return [[place, (field as Field).description], ...allMembers(field, place)];
    });
    return [...own, ...[items, ...anyOf, ...oneOf].flatMap((inner) => allMembers(inner, at))];
  };

  it.each(['get', 'post'])('of /ip has each of its fields explained (%s)', (method) => {
    const content = document.paths['/ip']?.[method]?.responses['200']?.content ?? {};
    const members = allMembers((content['application/json'] as { schema?: unknown } | undefined)?.schema, '');
    expect(members.length).toBeGreaterThan(25);
    expect(members.filter(([, description]) => description === undefined).map(([at]) => at)).toEqual([]);
  });
});

describe('a shape', () => {
  const { paths, components } = served as { paths: object; components: { schemas: Record<string, object>; responses: object } };

  it('stands in the document once, under a name of its own', () => {
    const inOperations = JSON.stringify(paths).match(/"properties":/g) ?? [];
    expect(inOperations.length).toBeLessThan(20);
    const texts = [...Object.values(components.schemas), ...Object.values(components.responses)].map((each) => JSON.stringify(each));
    expect(new Set(texts).size).toBe(texts.length);
    // Names that only a number tells apart tell nobody anything.
    expect(Object.keys(components.schemas).filter((name) => /\D[2-9]$/.test(name))).toEqual([]);
  });
});

describe('the table of errors', () => {
  const errors = listErrors();
  const read = apiDocument.parse(document);

  /** `404 not_found`, for everything that some route declares. */
  const declared = new Set(
    Object.values(read.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) => Object.entries(responses))
      .flatMap(([status, response]) => (response['x-codes'] ?? []).map((code) => `${status} ${code}`)),
  );
  const told = new Set(errors.flatMap(({ code, failures }) => failures.map(({ status }) => `${status} ${code}`)));

  it('tells every code under every status that a route declares', () => {
    expect([...declared].filter((each) => !told.has(each))).toEqual([]);
  });

  it('tells nothing that no route declares, but what happens where no route is', () => {
    expect([...told].filter((each) => !declared.has(each))).toEqual(['404 route_unknown', '404 gateway_error']);
  });

  it('says of every code what to do, and of no other', () => {
    expect(errors.filter(({ remedy }) => remedy === '')).toEqual([]);
    expect(Object.keys(REMEDIES).sort()).toEqual(errors.map(({ code }) => code).sort());
  });

  it('says of a subscription that is not active whom to contact: it may be suspended, which subscribing again does not end', () => {
    const detail = listProblems().find(({ code }) => code === 'subscription_inactive')?.detail;
    const remedy = errors.find(({ code }) => code === 'subscription_inactive')?.remedy;
    expect([detail, remedy]).toEqual([
      expect.stringContaining('contact support'),
      expect.stringContaining('suspended it, the page says why: contact'),
    ]);
    expect(detail).not.toContain('ubscribe');
  });

  it('is what the read carries', () => {
    expect(read['x-errors']).toEqual(errors);
  });

  it('says of a charge what the refunds do', () => {
    const charges = Object.fromEntries(
      errors.flatMap(({ code, failures }) => failures.map(({ status, charge }) => [`${status} ${code}`, charge])),
    );
    for (const { code: problem, status } of listProblems()) {
      if (problem === 'key_inactive') continue;
      const charge = charges[`${status} ${problem}`];
      if (charge !== 'not taken') expect([problem, charge]).toEqual([problem, isRefunded({ problem }) ? 'given back' : 'charged']);
    }
    expect(charges).toMatchObject({
      '401 key_missing': 'not taken',
      '429 quota_daily_exceeded': 'not taken',
      '429 rate_exceeded': 'not taken',
      '429 concurrency_exceeded': 'given back',
      '401 gateway_proof_missing': 'charged',
      '400 otp_invalid': 'charged',
      '502 captcha_rejected': 'charged',
      '502 not_found': 'charged',
      '404 not_found': 'charged',
      '404 provider_error': 'charged',
      '502 provider_error': 'given back',
      '504 provider_error': 'given back',
      '504 pages_timeout': 'charged',
      '503 gateway_error': 'given back',
    });
  });

  it('names the products of a code that few send', () => {
    expect(sendersOf(read, 'apk_malformed')).toEqual(['api-app']);
    expect(sendersOf(read, 'key_missing')).toEqual([]);
    expect(sendersOf(read, 'route_unknown')).toEqual([]);
  });

  it('names the successes besides 200 with their routes', () => {
    expect(otherSuccesses(read).map(({ status, operations }) => [status, operations])).toEqual([
      ['101', ['GET /gst/start']],
      ['206', ['GET /gdplay/stream', 'POST /gdplay/stream']],
      ['304', ['GET /gdplay/stream', 'POST /gdplay/stream']],
    ]);
  });
});

interface Example {
  readonly name: string;
  /** Of its schema in the document. */
  readonly place: string;
  readonly value: unknown;
}

describe('an example', () => {
  /** Every example of the document: of parameters, bodies and answers. */
  const examples = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody, responses }]): Example[] => {
      const at = (...segments: string[]): string => pointer('paths', path, method, ...segments);
      const inQuery = parameters.flatMap(({ name, example }, index): Example[] =>
        example === undefined
          ? []
          : [{ name: `${method} ${path} ${name}`, place: at('parameters', String(index), 'schema'), value: example }],
      );
      const contents = [
        { place: ['requestBody'], content: requestBody?.content ?? {} },
        ...Object.entries(responses).map(([status, { content = {} }]) => ({ place: ['responses', status], content })),
      ];
      const inContent = contents.flatMap(({ place, content }) =>
        Object.entries(content).flatMap(([type, { example, examples: named = {} }]): Example[] => {
          const values = [...(example === undefined ? [] : [example]), ...Object.values(named).map(({ value }) => value)];
          const name = `${method} ${path} ${place.join(' ')}`;
          return values.map((value) => ({ name, place: at(...place, 'content', type, 'schema'), value }));
        }),
      );
      return [...inQuery, ...inContent];
    }),
  );

  it('in the document satisfies its own schema', () => {
    expect(examples.length).toBeGreaterThan(70);
    expect(examples.flatMap(({ name, place, value }) => api.violations(place, value).map((violation) => `${name}: ${violation}`))).toEqual(
      [],
    );
  });

  it('that is cut says so', () => {
    const named = Object.values(api.document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ responses }) =>
        Object.values(responses['200']?.content ?? {}).flatMap(({ examples: given = {} }) => Object.values(given)),
      );
    expect(named.length).toBeGreaterThan(30);
    for (const { description } of named) expect(description).toContain('cut');
  });

  /** Spellings that callers use, of everything that a pattern of the document is about. */
  const SPELLINGS = ['IN', 'in', 'In', 'INR', 'en', 'EN', 'pt-BR', 'PT-br', 'zh-Hant-TW', '#FFFFFF', '#ffffff', 'FfFfFf', 'fff', '1234', '12a4', '123456789', '-']; // prettier-ignore

  const patterns = Object.values(SERVICES).flatMap(({ routes }) =>
    routes.flatMap((route) => {
      const shape = inputShapeOf(route.input)?.shape ?? {};
      const found = api.find(route.method === 'GET' ? 'GET' : 'POST', route.path);
      const { operation, place } = found ?? { operation: undefined, place: '' };
      const inBody = operation?.requestBody?.content['application/json']?.schema as
        { properties?: Record<string, { pattern?: string }> } | undefined;
      return Object.entries(inBody?.properties ?? {}).flatMap(([field, { pattern }]) =>
        pattern === undefined
          ? []
          : [
              {
                name: `${route.path} ${field}`,
                field: shape[field],
                place: `${place}${pointer('requestBody', 'content', 'application/json', 'schema', 'properties', field)}`,
              },
            ],
      );
    }),
  );

  it.each(patterns)('the pattern of $name takes what the route takes', ({ field, place }) => {
    const byRoute = SPELLINGS.filter((text) => field?.safeParse(text).success);
    expect(byRoute.length).toBeGreaterThan(0);
    expect(SPELLINGS.filter((text) => api.violations(place, text).length === 0)).toEqual(byRoute);
  });

  it('there are patterns', () => {
    expect(patterns.length).toBeGreaterThan(6);
  });
});
