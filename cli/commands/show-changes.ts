import { type CatalogueChange } from '../../services/selling/catalogue/compare-catalogues';
import { type Touched } from '../../services/selling/catalogue/count-touched';

/** A change, with the customers who lose something by it. */
export interface TouchingChange extends CatalogueChange {
  readonly touched: Touched | undefined;
}

const SIGNS: Readonly<Record<CatalogueChange['action'], string>> = { add: '+', change: '~', retire: '-' };

/** Maximum characters of a value in a line. */
const MAX_VALUE = 60;

function valueOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}

function whatOf({ action, plan, fields, falls }: CatalogueChange): string {
  if (action === 'add') return plan === undefined ? 'new product' : 'new plan';
  if (action === 'retire') return plan === undefined ? 'no longer sold' : 'no longer offered; customers who have it keep it';
  return Object.entries(fields)
    .map(([name, { before, after }]) => {
      const isFall = (falls as readonly string[]).includes(name);
      return `${name} ${valueOf(before)} → ${valueOf(after)}${isFall ? ' (falls)' : ''}`;
    })
    .join(', ');
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}

function whomOf({ subscriptions, customers, keys, examples }: Touched): string {
  const more = customers > examples.length ? ' …' : '';
  const who = examples.length === 0 ? '' : `: ${examples.join(', ')}${more}`;
  const withKeys = keys > 0 ? ` and ${plural(keys, 'key')}` : '';
  return `    touches ${plural(subscriptions, 'subscription')}${withKeys} of ${plural(customers, 'customer')}${who}`;
}

/** A line for each change, and another for the customers that it affects. */
export function showChanges(changes: readonly TouchingChange[]): string {
  return changes
    .flatMap((change) => {
      const name = change.plan === undefined ? change.product : `${change.product}, plan ${change.plan}`;
      const line = `${SIGNS[change.action]} ${name}: ${whatOf(change)}`;
      return change.touched === undefined ? [line] : [line, whomOf(change.touched)];
    })
    .join('\n');
}
