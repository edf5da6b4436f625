import { MAGIC_KEYWORDS } from './places-businesses';
import { LANDMARK } from './places-landmark';
import { type SandboxExample } from '../sandbox-upstream';

const POINT = { latitude: 12.9716, longitude: 77.5946 };

function plain(product: string, route: string, yields: string): SandboxExample {
  return { product, route, method: 'GET', outcome: 'success', input: {}, yields };
}

function search(outcome: string, input: Record<string, unknown>, yields: string): SandboxExample {
  return { product: 'api-grank', route: '/grank/search', method: 'POST', outcome, input: { ...POINT, ...input }, yields };
}

function position(outcome: string, input: Record<string, unknown>, yields: string): SandboxExample {
  return { product: 'api-grank', route: '/grank/position', method: 'POST', outcome, input: { ...POINT, ...input }, yields };
}

function grid(outcome: string, input: Record<string, unknown>, yields: string): SandboxExample {
  return { product: 'api-grank', route: '/grank/grid', method: 'POST', outcome, input: { ...POINT, ...input }, yields };
}

function gridAnswer(fetchedAt: string, corner: number | null): Record<string, unknown> {
  const ranks = [9, 4, corner, 4, 1, 4, 9, 4, 9];
  const points = ranks.map((rank, at) => ({
    row: Math.floor(at / 3),
    column: at % 3,
    latitude: POINT.latitude + 0.027 * (1 - Math.floor(at / 3)),
    longitude: POINT.longitude + 0.0277 * ((at % 3) - 1),
    status: 'ok',
    rank,
  }));
  const found = ranks.filter((rank) => rank !== null);
  const average = found.reduce((sum, rank) => sum + rank, 0) / found.length;
  return {
    query: { keyword: MAGIC_KEYWORDS.grid, ...landmark, ...POINT, size: 3, max_results: 20 },
    summary: { answered: 9, found: found.length, average_rank: Math.round(average * 100) / 100, top_3_share: 0.111 },
    points,
    source: 'sandbox_google_places',
    source_note: "The order is that of a Google Places search. The local pack on Google's results page is ordered differently.",
    fetched_at: fetchedAt,
  };
}

function history(outcome: string, answers: readonly object[], yields: string): SandboxExample {
  return { product: 'api-grank', route: '/grank/history', method: 'POST', outcome, input: { answers }, yields };
}

function leads(outcome: string, input: Record<string, unknown>, yields: string): SandboxExample {
  return { product: 'api-glead', route: '/glead/search', method: 'POST', outcome, input, yields };
}

type Failing = readonly [outcome: string, keyword: string, yields: string];

/** The same for both upstreams of test keys. */
const failures: readonly Failing[] = [
  ['upstream_error', MAGIC_KEYWORDS.upstreamError, '502 upstream_failed, reason upstream_error'],
  ['timeout', MAGIC_KEYWORDS.timeout, '504 upstream_timeout, after the time-out of the worker'],
  ['upstream_closes', MAGIC_KEYWORDS.closed, '502 upstream_failed'],
  ['bad_response', MAGIC_KEYWORDS.notJson, '502 upstream_failed, reason bad_response'],
];

/** Only Google Places has these. */
const googleFailures: readonly Failing[] = [
  ...failures,
  ['provider_quota', MAGIC_KEYWORDS.overQuota, '502 upstream_failed, reason provider_quota'],
  ['provider_refuses', MAGIC_KEYWORDS.refused, '502 upstream_failed, reason rejected'],
];

const dentist = 'dentist';
const positionOf = (business: string): Record<string, unknown> => ({ keyword: dentist, business_name: business, max_results: 60 });
const someBusiness = 'Lotus Clinic';
const landmark = { business_name: LANDMARK.name, radius_km: 3 };

/** For every keyword, the same 45 businesses around the point of the query are ranked, with the keyword's own words as their type. */
export const placesExamples: readonly SandboxExample[] = [
  plain('api-grank', '/grank', '200, the index of the product'),
  plain('api-grank', '/grank/health', '200, which upstream serves test keys'),
  search('success', { keyword: dentist }, '200, the first 20 of 45 businesses'),
  search('success_all', { keyword: dentist, max_results: 60 }, '200, all 45, read in three pages'),
  search('success_match', { keyword: dentist, place_id: 'ChIJsandbox0007' }, '200, match at position 7'),
  search('no_results', { keyword: MAGIC_KEYWORDS.empty }, '200, count 0'),
  ...googleFailures.map(([outcome, keyword, yields]) => search(outcome, { keyword }, yields)),
  position('success', { keyword: dentist, business_name: 'orchid dental care' }, '200, position 3 by name_exact, the suffix aside'),
  position('success_similar', positionOf('New Bharat Care Service Point Annexe'), '200, position 24 by name_similar'),
  position('success_outside', positionOf('Peacock Clinic'), '200, position 9, outside the radius'),
  position('success_twins', positionOf('Twin Lakes Care'), '200, position 12, both places of the name in candidates'),
  position('ambiguous', positionOf('Shree Sai Krishna Family Services And Help'), '200, found false, two candidates'),
  position('not_found', positionOf('No Such Business'), '200, found false, checked 45'),
  ...googleFailures.map(([outcome, keyword, yields]) => position(outcome, { keyword, business_name: someBusiness }, yields)),
  grid(
    'success',
    { keyword: MAGIC_KEYWORDS.grid, ...landmark },
    '200, 49 points; it leads in the middle and falls behind with every kilometre',
  ),
  grid('success_place', { keyword: MAGIC_KEYWORDS.grid, place_id: LANDMARK.id, radius_km: 3, size: 3 }, '200, 9 points'),
  grid(
    'partly_failed',
    { keyword: MAGIC_KEYWORDS.partialGrid, ...landmark, size: 3 },
    '200, 5 of 9 points answered, status error at the corners',
  ),
  grid('not_found', { keyword: dentist, business_name: 'No Such Business', size: 3 }, '200, rank null at every point'),
  ...googleFailures.map(([outcome, keyword, yields]) => grid(outcome, { keyword, business_name: someBusiness, size: 3 }, yields)),
  history(
    'success',
    [gridAnswer('2026-10-01T09:00:00Z', null), gridAnswer('2026-11-01T09:00:00Z', 6)],
    '200, the same at eight points, found at the ninth, where it was not',
  ),
  history('one_answer', [gridAnswer('2026-11-01T09:00:00Z', 6)], '422 validation_failed: a history needs at least two responses'),
  plain('api-glead', '/glead', '200, the index of the product'),
  plain('api-glead', '/glead/health', '200, which upstream serves test keys'),
  leads('success', { query: dentist, location: 'Bengaluru', limit: 20 }, '200, 20 leads and a next_page_token'),
  leads('success_filtered', { query: dentist, limit: 60, filters: { has_website: false } }, '200, 11 leads without a website'),
  leads(
    'success_in_business',
    { query: dentist, limit: 60, filters: { operational: true, min_reviews: 300 } },
    '200, 19 leads in business with 300 reviews or more',
  ),
  leads('success_emails', { query: dentist, limit: 3 }, '200, three leads; each with emails where RANKING_EMAIL_CRAWL is on'),
  leads(
    'success_grid',
    { query: dentist, ...POINT, radius_km: 5, grid: 2, limit: 60 },
    '200, the first of four tiles; page_token leads on',
  ),
  leads('no_results', { query: MAGIC_KEYWORDS.empty }, '200, count 0'),
  ...googleFailures.map(([outcome, query, yields]) => leads(outcome, { query }, yields)),
  leads('bad_page_token', { query: dentist, page_token: 'bm90LW91cnM' }, '422 validation_failed'),
];
