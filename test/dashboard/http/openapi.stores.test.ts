import { CATALOGUE, PRODUCTS } from '../../support/catalogue';
import { operationsIn, readOperations } from '../../../services/dashboard/storefront/operations';
import { buildDocument } from '../../support/openapi/build-document';
import { startDashboard, useDashboard, verdict } from '../support/dashboard';

const GATEWAY = 'https://api.example.com';

const dashboard = useDashboard({ readDocument: () => JSON.stringify(buildDocument(GATEWAY, CATALOGUE)) });
const get = () => dashboard.ask({ path: '/openapi.json' });

describe('/openapi.json', () => {
  it('is for everybody, names the gateway and has every route of the catalogue', async () => {
    const answer = await get();
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { openapi, servers, paths } = answer.json();
    expect([openapi, servers]).toEqual(['3.1.0', [{ url: GATEWAY }]]);
    for (const { routes } of PRODUCTS) for (const { path } of routes) expect(Object.keys(paths)).toContain(path);
  });

  it('has the shape that the reference page reads', async () => {
    const read = readOperations((await get()).body);
    expect(read['x-left-out']).toEqual([]);
    expect(operationsIn(read).length).toBeGreaterThan(40);
  });

  it('shows for each query and upload an example to start from, where the sandbox has one', async () => {
    const { paths } = readOperations((await get()).body);
    const ip = paths['/ip']?.['get']?.parameters?.find(({ name }) => name === 'ip');
    expect(ip?.example).toBe('8.8.8.8');
    for (const path of ['/app/analyze', '/image/background_remover']) {
      const operation = paths[path]?.['post'];
      const properties = Object.values(operation?.requestBody?.content['multipart/form-data']?.schema?.properties ?? {});
      expect(properties.map(({ format }) => format)).toEqual(['binary']);
      expect(operation?.['x-exampleFile']?.base64.length).toBeGreaterThan(100);
    }
  });

  it('says that it is not built when it is not', async () => {
    const readDocument = (): string => {
      throw new Error('no such file');
    };
    const bare = await startDashboard({ readDocument });
    expect(verdict(await bare.ask({ path: '/openapi.json' }).finally(() => bare.close()))).toBe('503 service_not_ready');
  });
});
