import { createCatalogue, type CatalogueProduct } from '../../plugins/core/selling/catalogue';
import { isPublishedPath } from '../../services/dashboard/api/requests/published-path';

const weather: CatalogueProduct = {
  id: 'weather',
  title: 'Weather',
  description: 'Forecasts.',
  prefix: '/weather',
  routes: [
    { method: 'GET', path: '/weather', purpose: 'Index' },
    { method: 'GET', path: '/weather/{city}/days', purpose: 'Forecast' },
  ],
  base: null,
  subscribable: false,
  plans: [],
};
const taken = (path: string, changes: Partial<CatalogueProduct> = {}): boolean =>
  isPublishedPath(path, createCatalogue([{ ...weather, ...changes }]));

it.each(['/weather', '/weather/pune/days', '/weather/New%20Delhi/days', '/api/v1/gst/refresh-captcha'])('takes %s', (path) => {
  expect(taken(path)).toBe(true);
});

it.each([
  '/',
  '',
  '/ip',
  '/weatherx',
  '/weather/pune',
  '/weather/a/b/days',
  '/weather/../days',
  '/weather/./days',
  '//evil',
  '/weather/a?b/days',
])('refuses %s', (path) => {
  expect(taken(path)).toBe(false);
});

it('takes anything below a product that brings its own description, and nothing that leads out of it', () => {
  const openapi = 'weather.json';
  expect(taken('/weather/any/depth', { openapi })).toBe(true);
  for (const path of ['/weather/../ip', '/weather/a/..', '/weatherx/a', '/weather/a?b=c', '/weather//a'])
    expect(taken(path, { openapi })).toBe(false);
});
