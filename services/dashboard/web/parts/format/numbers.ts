const counts = new Intl.NumberFormat('en-GB');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `120,000`, as the published limits are written. */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** `512 B`, `1.4 kB`: powers of a thousand, as browsers show them. */
export function formatBytes(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1_000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${['B', 'kB', 'MB', 'GB'][power]}`;
}

/** `120K`, for the axis of a chart. */
export function formatCompact(value: number): string {
  return compact.format(value);
}

/** Formats a price that the API gives as text with its ISO 4217 code, with as many decimals as the text. */
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
