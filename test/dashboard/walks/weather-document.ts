/** An operation whose path, query and cookies are not written as one text each. */
export const WEATHER_DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Weather', version: '1' },
  paths: {
    '/{city}/days{range}': {
      get: {
        operationId: 'days',
        summary: 'Days of a city',
        parameters: [
          { name: 'city', in: 'path', required: true, schema: { type: 'string' }, example: 'pune' },
          {
            name: 'range',
            in: 'path',
            required: true,
            style: 'matrix',
            explode: true,
            schema: { type: 'object' },
            example: { from: 1, upto: 3 },
          },
          { name: 'units', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'theme', in: 'cookie', schema: { type: 'string' }, example: 'dark' },
        ],
        responses: { '200': { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } },
      },
    },
  },
};
