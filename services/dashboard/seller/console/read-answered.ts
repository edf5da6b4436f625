import { type ProductAnswers, readProductAnswers } from '../../../selling/outages/product-answers';
import { addDays } from '../../../selling/statements/statement';
import { type DashboardDeps } from '../../http/dashboard-deps';

type Part = Omit<ProductAnswers, 'product'>;
const NOTHING: Part = { admitted: 0, answers: null };

/**
 * Each product's responses today and in the 30 days up to today; a product without calls in them has no entry.
 * @param today `YYYY-MM-DD` in the quota time zone
 */
export async function readAnswered(
  db: DashboardDeps['db'],
  today: string,
): Promise<{ readonly product: string; readonly today: Part; readonly period: Part }[]> {
  const [ofToday, period] = await Promise.all([
    readProductAnswers(db, { fromDay: today, toDay: today }),
    readProductAnswers(db, { fromDay: addDays(today, -29), toDay: today }),
  ]);
  const todayOf = new Map(ofToday.map((each) => [each.product, each]));
  return period.map((each) => ({ product: each.product, today: todayOf.get(each.product) ?? NOTHING, period: each }));
}
