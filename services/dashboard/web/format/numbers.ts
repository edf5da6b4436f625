const counts = new Intl.NumberFormat('en-GB');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `120,000`, as the published limits are written. */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** `120K`, for the axis of a chart. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** A price that the API gives as text with its ISO 4217 code, and as many decimals as the text has. */
export function formatPrice({ price, currency }: { readonly price: string; readonly currency: string }): string {
  const locale = currency === 'INR' ? 'en-IN' : 'en-GB';
  const digits = price.split('.')[1]?.length ?? 0;
  const options = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(locale, options).format(Number(price));
}

/** Percent of a limit that is used, 0 to 100; a limit of nothing is full. */
export function percentOf(used: number, limit: number): number {
  return limit <= 0 ? 100 : Math.min(100, (used / limit) * 100);
}
