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

const WITHOUT_SOURCE = ['/seo/authority', '/seo/backlinks with candidates', '/seo/keywords', '/seo/link_pyramid with links', '/seo/spam'];

let running: RunningServices;
afterEach(() => running.close());

async function liveWith(env: Readonly<Record<string, string>>): Promise<unknown> {
  running = await runServices(CHOSEN, { ...ENV, ...env });
  return (await fetch(`${running.privateUrl}/live`)).json();
}

it('a service without its worker says that no live key is served', async () => {
  expect(await liveWith({})).toEqual({
    products: {
      'api-pincode': true,
      'api-aadhaar': false,
      'api-gst': false,
      'api-seo': false,
      'api-image': false,
      'api-background-remover': false,
    },
    routes: { 'api-seo': WITHOUT_SOURCE },
    data: {},
  });
});

it('a service with a worker leaves it to the worker to say what has a source', async () => {
  const nobody = '127.0.0.1:9';
  const workers = { IDENTITY_WORKER_URL: nobody, SEO_WORKER_URL: nobody, IMAGE_WORKER_URL: nobody };
  expect(await liveWith(workers)).toEqual({
    products: { 'api-pincode': true, 'api-image': true, 'api-background-remover': true },
    routes: { 'api-seo': WITHOUT_SOURCE },
    data: {},
  });
});
