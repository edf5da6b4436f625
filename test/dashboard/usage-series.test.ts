import { refusedSeries, shownDays, usedSeries } from '../../services/dashboard/web/pages/usage/usage-series';

const PRODUCTS = ['api-ip', 'api-gst', 'api-seo'].map((id) => ({ id, title: `Title of ${id}` }));
const used = (day: string, product: string, count: number, mode: 'live' | 'test' = 'live') => ({
  day,
  product,
  mode,
  used: count,
});
const WEEK = ['16', '17', '18', '19', '20', '21', '22'].map((day) => `2026-11-${day}`);
const colors = ({ series }: ReturnType<typeof usedSeries>) => Object.fromEntries(series.map(({ name, color }) => [name, color]));

describe('a chart by day', () => {
  it('gives a product its colour whatever its rank and whatever else is shown', () => {
    const first = colors(usedSeries([used('2026-11-22', 'api-ip', 9), used('2026-11-22', 'api-gst', 1)], PRODUCTS, WEEK));
    const second = colors(usedSeries([used('2026-11-22', 'api-gst', 9), used('2026-11-22', 'api-ip', 1)], PRODUCTS, WEEK));
    const alone = colors(usedSeries([used('2026-11-22', 'api-gst', 9)], PRODUCTS, WEEK));
    expect(second).toEqual(first);
    expect(alone['Title of api-gst']).toBe(first['Title of api-gst']);
    expect(new Set(Object.values(first)).size).toBe(2);
  });

  it('gives a code its colour whatever its rank', () => {
    const refused = (code: string, count: number) => ({ day: '2026-11-22', product: 'api-ip', code, count });
    const few = colors(refusedSeries([refused('key_expired', 1), refused('quota_daily_exceeded', 9)], WEEK));
    const many = colors(refusedSeries([refused('key_expired', 9), refused('quota_daily_exceeded', 1)], WEEK));
    expect(many).toEqual(few);
  });

  it('names products by title, and test keys apart', () => {
    const { series } = usedSeries([used('2026-11-22', 'api-ip', 2), used('2026-11-22', 'api-ip', 1, 'test')], PRODUCTS, WEEK);
    expect(series.map(({ name }) => name)).toEqual(['Title of api-ip', 'Title of api-ip (test)']);
    expect(new Set(series.map(({ color }) => color)).size).toBe(2);
  });

  it('begins with the first day on which anything happened, and shows a week at least', () => {
    const fortnight = [...['09', '10', '11', '12', '13', '14', '15'].map((day) => `2026-11-${day}`), ...WEEK];
    expect(shownDays(fortnight, [])).toEqual(WEEK);
    expect(shownDays(fortnight, [{ day: '2026-11-22' }])).toEqual(WEEK);
    expect(shownDays(fortnight, [{ day: '2026-11-22' }, { day: '2026-11-10' }])).toEqual(fortnight.slice(1));
    expect(shownDays(fortnight, [{ day: '2026-11-09' }])).toEqual(fortnight);
  });
});
