import { PRODUCTS } from './catalogue';

/** Titles that are also ordinary words; GST is also the tax on invoices. */
const ORDINARY = new Set(['GST', 'Image', 'Ranking']);

/** Names of the example catalogue: ids and titles anywhere; prefixes where a path begins, so that `./image` and `services/products/app/` are none. */
export const EXAMPLE_NAMES = new RegExp(
  [
    `\\b(?:${PRODUCTS.map(({ id }) => id).join('|')})\\b`,
    `(?<![\\w./*)-])(?:${PRODUCTS.flatMap(({ prefix }) => prefix ?? []).join('|')})(?![\\w-])`,
    `\\b(?:${PRODUCTS.flatMap(({ title }) => (ORDINARY.has(title) ? [] : title.replace(/ \(.*/, ''))).join('|')})\\b`,
  ].join('|'),
);

/** Where a text names the example catalogue, each with what stands around it. */
export function namesIn(place: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const { index } = EXAMPLE_NAMES.exec(line) ?? {};
    return index === undefined ? [] : [`${place}: ${line.slice(Math.max(0, index - 60), index + 60)}`];
  });
}
