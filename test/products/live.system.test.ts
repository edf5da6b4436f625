import { SERVICES } from '../support/services';
import { runServices, type RunningServices } from '../../services/products/run-services';

const ENV = {
  TOLLGATE_SIGNING_KEYS: `a:${Buffer.alloc(32, 7).toString('base64')}`,
  SERVICE_PORT: '0',
  PRIVATE_PORT: '0',
  SERVICE_LEAVE_MS: '0',
  LOG_LEVEL: 'silent',
};
const CHOSEN = [SERVICES.pincode, SERVICES.aadhaar, SERVICES.gst, SERVICES.seo, SERVICES.image, SERVICES['background-remover']];

let running: RunningServices;
afterEach(() => running.close());

interface Live {
  readonly products: object;
  readonly routes: Readonly<Record<string, readonly object[]>>;
  readonly data: object;
}

async function liveWith(env: Readonly<Record<string, string>>): Promise<Live> {
  running = await runServices(CHOSEN, { ...ENV, ...env });
  return (await (await fetch(`${running.privateUrl}/live`)).json()) as Live;
}

it('a service without its worker says that no live key is served', async () => {
  const { products, routes, data } = await liveWith({});
  const none = ['api-aadhaar', 'api-gst', 'api-seo', 'api-image', 'api-background-remover'].map((product) => [product, false]);
  expect(products).toEqual({ 'api-pincode': true, ...Object.fromEntries(none) });
  expect(routes['api-seo']).toContainEqual({ path: '/seo/authority', opens: 'with_source' });
  expect(data).toEqual({});
});

it('a service with a worker leaves it to the worker to say what has a source', async () => {
  const nobody = '127.0.0.1:9';
  const workers = { IDENTITY_WORKER_URL: nobody, SEO_WORKER_URL: nobody, IMAGE_WORKER_URL: nobody };
  const { products, routes, data } = await liveWith(workers);
  expect(products).toEqual({ 'api-pincode': true, 'api-image': true, 'api-background-remover': true });
  expect(routes['api-seo']).toContainEqual({ path: '/seo/authority', opens: 'always' });
  expect(routes['api-gst']).toContainEqual({ path: '/gst/start', opens: 'with_source' });
  expect(data).toEqual({});
});
