import { parseCap, parsePercents } from '../../services/dashboard/web/pages/alerts/threshold-text';

describe('thresholds and caps as a person writes them', () => {
  it.each([
    ['80, 100', [80, 100]],
    ['100 80;80 %', [80, 100]],
    ['1', [1]],
    ['  ', null],
    [',', undefined],
    ['0', undefined],
    ['101', undefined],
    ['1,2,3,4,5,6', undefined],
    ['8.5', undefined],
    ['eighty', undefined],
  ])('%j reads as %j', (text, percents) => {
    expect(parsePercents(text)).toEqual(percents);
  });

  it.each([
    ['1,000', 1_000],
    ['0', 0],
    ['', null],
    ['2147483647', 2_147_483_647],
    ['2147483648', undefined],
    ['-1', undefined],
    ['1.5', undefined],
  ])('%j is the cap %j', (text, cap) => {
    expect(parseCap(text)).toBe(cap);
  });
});
