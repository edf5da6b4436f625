import { liveRoutesOf } from '../../services/kit/service/live-routes';
import { loadService, type ServiceName } from '../../services/products/registry';
import { CATALOGUE } from '../support/catalogue';

const { products } = CATALOGUE;
const of = async (name: ServiceName, isServed = true): Promise<string[]> =>
  liveRoutesOf(await loadService(name), { products, isServed }).map(({ path, opens, only = '', of: other = '' }) =>
    `${path} ${opens} ${only}${other}`.trim(),
  );

it('says of each published route when it answers live keys', async () => {
  expect(await of('seo')).toEqual([
    '/seo about',
    '/seo/health about',
    '/seo/authority always',
    '/seo/backlinks in_part with candidates',
    '/seo/keywords always',
    '/seo/link_pyramid in_part with links',
    '/seo/serp with_source',
    '/seo/spam always',
  ]);
  expect((await of('grank')).at(-1)).toBe('/grank/history kept');
  expect(await of('vahaan')).toEqual(['/vahaan about']);
});

it('names a path of two methods once, and no second name of a path', async () => {
  expect(await of('ip')).toEqual(['/ip with_source']);
  expect(await of('gst')).toEqual(['/gst about', '/gst/start with_source', '/gst/data with_source', '/gst/refresh_captcha with_source']);
});

it('names the routes of another product that admit the keys, with that product', async () => {
  expect(await of('background-remover')).toEqual(['/background_remover about', '/image/background_remover with_source api-image']);
});

it('promises nothing of a service without workers', async () => {
  expect((await of('seo', false)).filter((each) => !each.endsWith('about'))).toEqual(
    ['authority', 'backlinks', 'keywords', 'link_pyramid', 'serp', 'spam'].map((name) => `/seo/${name} with_source`),
  );
});
