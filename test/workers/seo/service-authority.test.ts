import { type Figure } from '../../../services/workers/seo/figure';
import { type AuthorityInput, rankScore, serviceAuthority } from '../../../services/workers/seo/research/service-authority';

it.each([
  [1, 100],
  [1_000_000, 100 / 7],
  [10_000_000, 0],
])('rank %i is worth %f', (rank, score) => expect(rankScore(rank)).toBeCloseTo(score, 9));

const input = (name: AuthorityInput, value: number | null, reason = 'unknown_to_source'): { name: AuthorityInput; figure: Figure } => ({
  name,
  figure: { value, unit: 'any', source: 'any', kind: 'provider', ...(value === null && { reason }) },
});

it('the estimate is the mean of its inputs, and names them and the formula', () => {
  expect(serviceAuthority([input('open_page_rank', 4), input('tranco_rank', 1)])).toEqual({
    value: 70,
    unit: 'score_0_100',
    source: 'service',
    kind: 'service_estimate',
    method: 'mean(10 * open_page_rank, max(0, 100 * (1 - log10(tranco_rank) / 7)))',
    inputs: [
      { name: 'open_page_rank', value: 4 },
      { name: 'tranco_rank', value: 1 },
    ],
  });
  expect(serviceAuthority([input('cc_harmonic_rank', 10)])).toMatchObject({
    value: 85.71,
    method: 'max(0, 100 * (1 - log10(cc_harmonic_rank) / 7))',
  });
  expect(serviceAuthority([input('open_page_rank', 0)]).value).toBe(0);
});

it('an input that is missing leaves no estimate: the rest would be another measure under the same name', () => {
  const estimate = serviceAuthority([input('open_page_rank', null, 'upstream_error'), input('tranco_rank', 10)]);
  expect(estimate).toMatchObject({ value: null, reason: 'upstream_error', inputs: [{ value: null }, { value: 10 }] });
  expect(estimate.method).toBe(serviceAuthority([input('open_page_rank', 4), input('tranco_rank', 10)]).method);
  expect(serviceAuthority([])).toMatchObject({ value: null, reason: 'not_configured', inputs: [] });
});
