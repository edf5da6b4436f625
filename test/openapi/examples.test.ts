import { buildDocument } from '../support/openapi/build-document';
import { inputShapeOf } from '../../services/openapi/input-shape';
import { SERVICES } from '../support/services';
import { CATALOGUE } from '../support/catalogue';
import { type DescribedDocument, DocumentedApi, pointer } from '../support/openapi/documented-api';

const api = new DocumentedApi(JSON.parse(JSON.stringify(buildDocument('https://api.example.com', CATALOGUE))) as DescribedDocument);
const { document } = api;

interface Example {
  readonly name: string;
  /** Of its schema in the document. */
  readonly place: string;
  readonly value: unknown;
}

/** Every example of the document: of parameters, bodies and answers. */
const examples = Object.entries(document.paths).flatMap(([path, methods]) =>
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

it('every example in the document satisfies its own schema', () => {
  expect(examples.length).toBeGreaterThan(70);
  expect(examples.flatMap(({ name, place, value }) => api.violations(place, value).map((violation) => `${name}: ${violation}`))).toEqual(
    [],
  );
});

it('an example that is cut says so', () => {
  const named = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.values(responses['200']?.content ?? {}).flatMap(({ examples: given = {} }) => Object.values(given)));
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
