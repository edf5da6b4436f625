import { type OpenedRoute } from '../../../services/dashboard/contract/plans';
import { openedText, opensNothing, routeText, understoodText } from '../../../services/dashboard/reference/live-routes';

const route = (path: string, state: OpenedRoute['state'], only = ''): OpenedRoute => ({ path, state, only });
const SEO = [
  route('/seo', 'about'),
  route('/seo/spam', 'open'),
  route('/seo/backlinks', 'in_part', 'with candidates'),
  route('/seo/serp', 'refused'),
];
const GRANK = [
  route('/grank', 'about'),
  route('/grank/search', 'refused'),
  route('/grank/grid', 'refused'),
  route('/grank/history', 'kept'),
];

it.each([
  ['a product whose source is there', { isThere: true, routes: [route('/ip', 'open')] }, false, undefined],
  ['one of which no route is known', { isThere: true, routes: [] }, false, undefined],
  ['the same without its source', { isThere: false, routes: [] }, true, 'Live keys open nothing today.'],
  ['an index', { isThere: true, routes: [route('/vahaan', 'about')] }, true, 'Live keys open nothing today: there is only an index.'],
  [
    'a product that answers in part',
    { isThere: false, routes: SEO },
    false,
    'Live keys open today: /seo/spam and /seo/backlinks with candidates; /seo/serp is refused.',
  ],
  [
    'one that answers only about what was kept',
    { isThere: false, routes: GRANK },
    true,
    'Live keys open nothing today: /grank/search and /grank/grid are refused; /grank/history takes only answers that you kept.',
  ],
])('says of %s what live keys open', (_name, product, isNothing, text) => {
  expect([opensNothing(product), openedText(product)]).toEqual([isNothing, text]);
});

it('says of each route what a live key gets', () => {
  expect([...SEO, route('/seo/health', 'about'), route('/grank/history', 'kept')].map(routeText)).toEqual([
    'an index',
    'answers',
    'answers with candidates only',
    'refused until there is a source',
    'a health check',
    'answers for answers that you kept only',
  ]);
});

it('asks to understand that the price is charged all the same', () => {
  expect(understoodText('GST', { isThere: false, routes: [route('/gst/start', 'refused')] })).toBe(
    'GST: Live keys open nothing today: /gst/start is refused. The price is charged all the same.',
  );
});
