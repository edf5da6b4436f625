import { describeRate } from '../../../plugins/core/access/rate';
import { type CataloguePlan, type CatalogueProduct, type QuotaLimits } from '../../../plugins/core/catalogue/catalogue';

const counts = new Intl.NumberFormat('en-GB');

/** `120,000` */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** `₹499.00` */
export function formatPrice({ price, currency }: Pick<CataloguePlan, 'price' | 'currency'>): string {
  const digits = price.split('.')[1]?.length ?? 0;
  const options = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(currency === 'INR' ? 'en-IN' : 'en-GB', options).format(Number(price));
}

/** `1,000 a day, 30,000 a month`. A limited rate adds `, 10 requests a second, bursts of 20`. */
export function describeLimits({ daily, monthly, rate }: QuotaLimits): string {
  return `${formatCount(daily)} a day, ${formatCount(monthly)} a month${rate ? `, ${describeRate(rate)}` : ''}`;
}

/** A plan's limits. If it sells more: what is included, then the price of more, and the cap. */
export function describePlan(plan: CataloguePlan): string {
  const { overage, currency } = plan;
  if (!overage) return describeLimits(plan);
  const above = `${formatPrice({ price: overage.price, currency })} for ${formatCount(overage.per)} more`;
  return `${describeLimits(plan)} included, then ${above}, up to ${describeLimits(overage.cap)}`;
}

/** True for products that can be called. Others are only listed. */
export function isOffered({ prefix }: CatalogueProduct): boolean {
  return prefix !== null;
}

/** Shown in place of an empty list of products. */
export const NOTHING_ON_SALE = 'Nothing is on sale yet.';

/** The unit in which a product's limits are counted. */
export const countedBy = (countsUnits: boolean): 'units' | 'requests' => (countsUnits ? 'units' : 'requests');

/** `From ₹499.00 a month`, or the text for a free product. */
export function priceFrom({ plans }: CatalogueProduct): string {
  const [least] = [...plans].sort((a, b) => Number(a.price) - Number(b.price));
  return least ? `From ${formatPrice(least)} a month` : 'Free within its limits';
}
