import { noteServerPaths } from '../../kong/check/note-server-paths';

const kong = (service: string, route = ''): string => `
_format_version: "3.0"
services:
  - name: weather
    ${service}
    routes:
      - name: weather
        paths: [/weather]
        ${route}
    plugins: [{ name: access-layer, config: { products: [weather] } }]
`;
const notesFor = (kongYml: string, document: object): string[] => noteServerPaths(kongYml, new Map([['weather', document]]));
const below = (url: string, paths: object = { '/days': {} }): object => ({ servers: [{ url }], paths });

const PLAIN = 'url: http://10.0.0.7:8000';
it.each<[string, string, object]>([
  ['the service has the path', 'url: http://10.0.0.7:8000/v2/', below('https://api.example.com/v2')],
  ['the service has the path as a field', 'host: 10.0.0.7\n    path: /v2', below('/v2/')],
  ['there is no server', PLAIN, { paths: {} }],
  ['the server is a host', PLAIN, below('https://api.example.com/')],
  ['the server is open', PLAIN, below('https://{tenant}.example.com/{version}')],
  ['a variable of the server has no default', PLAIN, { servers: [{ url: '/{version}', variables: { version: {} } }], paths: {} }],
  ['the server is no address', PLAIN, below('http://[')],
  ['the paths have it themselves', PLAIN, below('/v2', { '/v2/days': {} })],
])('says nothing where %s', (_what, service, document) => {
  expect(notesFor(kong(service), document)).toEqual([]);
});

it('says nothing of an API that gets the whole path', () => {
  expect(notesFor(kong(PLAIN, 'strip_path: false'), below('/weather'))).toEqual([]);
});

it.each(['https://api.example.com/v2', '/v2', 'v2/'])(
  'names a product whose document says a path that kong.yml does not add: %s',
  (url) => {
    const text = 'product weather: its document says that the API is below /v2; add that to the url of service weather';
    expect(notesFor(kong(PLAIN), below(url))).toEqual([text]);
  },
);

it('takes the variables of a server for their defaults', () => {
  const variables = { tenant: { default: 'acme' }, version: { default: 'v2', enum: ['v1', 'v2'] } };
  const document = { servers: [{ url: 'https://{tenant}.example.com/api/{version}', variables }], paths: { '/days': {} } };
  expect(notesFor(kong(PLAIN), document)).toEqual([
    'product weather: its document says that the API is below /api/v2; add that to the url of service weather',
  ]);
  expect(notesFor(kong('url: http://10.0.0.7:8000/api/v2'), document)).toEqual([]);
});
