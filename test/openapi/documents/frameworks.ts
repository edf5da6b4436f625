/** Documents of one forecast API, as different frameworks and people write them. Each describes GET /forecast/{city}. */

const answer = (schema: unknown): object => ({ '200': { description: 'Fine', content: { 'application/json': { schema } } } });
const document = (parts: object, version = '3.1.0'): object => ({ openapi: version, info: { title: 'Forecasts', version: '1' }, ...parts });

/** A document with GET /forecast/{city} and whatever else is special about it. */
const forecast = (operation: object, rest: object = {}, version?: string): object => {
  const { parameters = [], city = {}, ...own } = operation as { parameters?: object[]; city?: object };
  const inPath = { name: 'city', in: 'path', required: true, schema: { type: 'string', example: 'pune' }, ...city };
  const get = { responses: answer({ type: 'object' }), ...own, parameters: [inPath, ...parameters] };
  const { paths = {}, ...others } = rest as { paths?: object };
  return document({ paths: { '/forecast/{city}': { get }, ...paths }, ...others }, version);
};

const named = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const withSchemas = (schemas: object, others: object = {}): object => ({ components: { schemas, ...others } });

/** FastAPI: 3.1, pydantic's titles, `anyOf` with null, an answer of 422. */
const fastapi = forecast(
  {
    summary: 'Read Forecast',
    description: 'The next days of **one** city.',
    operationId: 'read_forecast_forecast__city__get',
    city: { schema: { type: 'string', title: 'City', examples: ['pune'] } },
    parameters: [
      { name: 'days', in: 'query', required: false, schema: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], title: 'Days' } },
      { name: 'x-trace', in: 'header', required: true, schema: { type: 'string', minLength: 8 } },
    ],
    responses: {
      ...answer(named('Forecast')),
      '422': { description: 'Validation Error', content: { 'application/json': { schema: named('Problems') } } },
    },
  },
  withSchemas({
    Forecast: {
      type: 'object',
      title: 'Forecast',
      required: ['city'],
      properties: { city: { type: 'string' }, celsius: { type: 'number' } },
    },
    Problems: { type: 'object', properties: { detail: { type: 'array', items: {} } } },
  }),
);

/** NestJS: 3.0, `allOf` around a reference, `nullable`, bearer security of its own. */
const nest = forecast(
  {
    operationId: 'ForecastController_findOne',
    security: [{ bearer: [] }],
    city: { example: 'pune', schema: { type: 'string' } },
    parameters: [{ name: 'units', required: true, in: 'query', schema: named('Units') }],
    responses: answer({ allOf: [named('Forecast')], nullable: true }),
  },
  withSchemas(
    {
      Units: { type: 'string', enum: ['metric', 'imperial'] },
      Forecast: { type: 'object', properties: { city: { type: 'string', nullable: true } }, required: ['city'] },
    },
    { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
  ),
  '3.0.0',
);

/** Go's generators: shared parameters and bodies by reference. */
const go = document(
  {
    paths: {
      '/forecast/{city}': {
        parameters: [{ $ref: '#/components/parameters/City' }],
        get: { operationId: 'GetForecast', responses: { '200': { $ref: '#/components/responses/Forecast' } } },
      },
      '/forecast': {
        post: {
          operationId: 'PostForecast',
          requestBody: { $ref: '#/components/requestBodies/Wanted' },
          responses: answer({ type: 'object' }),
        },
      },
    },
    ...withSchemas(
      {
        Wanted: {
          type: 'object',
          required: ['city'],
          properties: { city: { type: 'string', example: "L'Aquila" }, days: { type: 'integer' } },
        },
      },
      {
        parameters: {
          City: { name: 'city', in: 'path', required: true, schema: { type: 'string' }, examples: { one: { value: 'pune' } } },
        },
        requestBodies: { Wanted: { required: true, content: { 'application/json': { schema: named('Wanted') } } } },
        responses: { Forecast: { description: 'Fine', content: { 'application/json': { schema: named('Wanted') } } } },
      },
    ),
  },
  '3.0.3',
);

/** By hand: no operationId, no summary, `oneOf` in the answer, an operation's parameter in place of its path's. */
const byHand = document({
  paths: {
    '/forecast/{city}': {
      parameters: [{ name: 'city', in: 'path', required: true, schema: { type: 'integer' } }],
      get: {
        parameters: [
          { name: 'city', in: 'path', required: true, schema: { type: 'string', default: 'pune' } },
          { name: 'on', in: 'query', required: true, schema: { type: 'string', format: 'date' } },
        ],
        responses: answer({ oneOf: [{ type: 'object', properties: { rain: { type: 'boolean' } } }, { type: 'string' }] }),
      },
    },
  },
});

/** A form and an upload, an answer that is no JSON. */
const takes = (operationId: string, mediaType: string, required: string[], properties: object): object => ({
  operationId,
  requestBody: { content: { [mediaType]: { schema: { type: 'object', required, properties } } } },
  responses: answer({ type: 'object' }),
});
const station = { name: { type: 'string', example: "D'Souza & co" }, note: { type: 'string', example: '$(id) `id` "x" \\ %' } };
const picture = { title: { type: 'string', example: 'Sky' }, picture: { type: 'string', format: 'binary' } };
const forms = forecast(
  { responses: { '200': { description: 'Text', content: { 'text/plain': { schema: { type: 'string' } } } } } },
  {
    paths: {
      '/station': { post: takes('addStation', 'application/x-www-form-urlencoded', ['name', 'note'], station) },
      '/picture': { put: takes('putPicture', 'multipart/form-data', ['title'], picture) },
    },
  },
);

/** springdoc: 3.0, any media type, a pageable object as query parameter. */
const spring = forecast(
  {
    tags: ['forecast-controller'],
    operationId: 'findOne',
    parameters: [{ name: 'pageable', in: 'query', required: true, schema: named('Pageable') }],
    responses: { '200': { description: 'OK', content: { '*/*': { schema: named('Pageable') } } } },
  },
  withSchemas({ Pageable: { type: 'object', properties: { page: { type: 'integer', minimum: 0 }, sort: { type: 'array' } } } }),
  '3.0.1',
);

/** JSDoc comments of Express: an answer without a schema, `default` as status. */
const express = forecast({ tags: ['Forecast'], responses: { '200': { description: 'A forecast.' }, default: { description: 'An error.' } } }, {}, '3.0.0'); // prettier-ignore

/** rswag: a header of few values, basic authentication of an operation. */
const rails = forecast(
  { security: [{ basic: [] }], parameters: [{ name: 'Accept-Language', in: 'header', schema: { type: 'string', enum: ['en', 'hi'] } }] },
  { components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } } },
  '3.0.1',
);

/** Swashbuckle: values of an enumeration as integers. */
const dotnet = forecast(
  { operationId: 'GetForecast', parameters: [{ name: 'unit', in: 'query', schema: named('Unit') }] },
  withSchemas({ Unit: { enum: [0, 1], type: 'integer', format: 'int32' } }),
  '3.0.1',
);

/** By hand, 3.1: webhooks, a path item without operations, a const, examples of a schema. */
const webhooks = forecast(
  { description: 'One of *several*.', parameters: [{ name: 'mode', in: 'query', required: true, schema: { const: 'daily' } }] },
  { webhooks: { changed: { post: { responses: { '200': { description: 'Seen' } } } } }, paths: { '/nothing': { summary: 'Later' } } },
);

/** A style of each place; test/openapi/described-operations has them all. */
const list = { schema: { type: 'array', items: { type: 'string' } }, example: ['blue', 'black'] };
const object = { schema: { type: 'object', properties: { R: { type: 'integer' }, G: { type: 'integer' } } }, example: { R: 100, G: 200 } };
export const STYLES = forecast({
  city: { style: 'label', explode: true, ...list },
  parameters: [
    { name: 'filter', in: 'query', style: 'deepObject', explode: true, ...object },
    { name: 'tag', in: 'query', ...list },
    { name: 'at', in: 'query', content: { 'application/json': object } },
    // Of the name of the parameter in the path.
    { name: 'city', in: 'query', schema: { type: 'string' }, example: 'another' },
    { name: 'X-Light', in: 'header', explode: true, ...object },
    { name: 'theme', in: 'cookie', schema: { type: 'string' }, example: 'dark' },
    { name: 'shades', in: 'cookie', explode: false, ...list },
  ],
});

/** A discriminator over two shapes, each of all of a base. */
const mapping = { rain: '#/components/schemas/Rain', sun: '#/components/schemas/Sun' };
const kind = (property: string): object => ({ allOf: [named('Base'), { type: 'object', properties: { [property]: { type: 'number' } } }] });
const discriminator = forecast(
  { responses: answer({ oneOf: [named('Rain'), named('Sun')], discriminator: { propertyName: 'kind', mapping } }) },
  withSchemas({
    Base: { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } },
    Rain: kind('millimetres'),
    Sun: kind('hours'),
  }),
);

export const FRAMEWORKS: Readonly<Record<string, object>> = {
  fastapi, nest, go, byHand, forms, spring, express, rails, dotnet, webhooks, discriminator,
}; // prettier-ignore

/** What somebody could write to run code, to end a page or to fill a memory. */
const SCRIPT = `</script><img src=x onerror=alert(1)>'"\`$(touch pwned)\${x}\\`;

const script = document({
  paths: {
    [`/a'"$(touch pwned)/{${SCRIPT.replaceAll(/[{}/]/g, '')}}`]: {
      post: {
        operationId: SCRIPT,
        summary: SCRIPT,
        description: SCRIPT,
        parameters: [
          { name: SCRIPT, in: 'query', required: true, example: SCRIPT, schema: { type: 'string', description: SCRIPT } },
          { name: SCRIPT, in: 'header', required: true, example: `${SCRIPT}\r\nX-Api-Key: stolen`, schema: { type: 'string' } },
          { name: 'X-Note', in: 'header', required: true, example: `${SCRIPT}\r\nX-Other: 1`, schema: { type: 'string' } },
        ],
        requestBody: { content: { 'application/json': { example: { [SCRIPT]: SCRIPT, list: [SCRIPT, null, 1.5, { a: true }] } } } },
        responses: answer({ type: 'object', properties: { [SCRIPT]: { description: SCRIPT } } }),
      },
    },
  },
});

const jsonOf = (schema: string): object => ({ content: { 'application/json': { schema: named(schema) } } });
const answering = (schema: string, schemas: object): object =>
  document({ paths: { '/tree': { post: { requestBody: jsonOf(schema), responses: answer(named(schema)) } } }, ...withSchemas(schemas) });

const cyclic = answering('Node', {
  Node: { type: 'object', required: ['left'], properties: { left: named('Node'), right: named('Same') } },
  Same: { allOf: [named('Node'), named('Same')] },
});

/** Each schema names the next one twice: written out it would have 2^40 parts. */
const twice = Array.from({ length: 40 }, (_, at) => [
  `S${at}`,
  { type: 'object', properties: { a: named(`S${at + 1}`), b: named(`S${at + 1}`) } },
]);
const doubling = answering('S0', { ...Object.fromEntries(twice), S40: { type: 'string' } });

export const HOSTILE: Readonly<Record<string, object>> = { script, cyclic, doubling };
