import { type BillingTerms, isPaymentProvider } from './billing-terms';
import { type CataloguePlan, type CatalogueProduct } from './catalogue';
import { decimalsOf, fitsDecimals, fromMinor, toMinor } from './money';

/** A problem that involves several members. */
export interface CatalogueMistake {
  readonly path: (string | number)[];
  readonly message: string;
}

type File = { readonly products: readonly CatalogueProduct[]; readonly billing?: BillingTerms | undefined };

/** Checks the rules between the members of a catalogue, once each member is well formed. */
export function checkCatalogueFile({ products, billing }: File): CatalogueMistake[] {
  return [
    ...findRepeats(
      products.map(({ id }) => id),
      (index) => ['products', index, 'id'],
      (id) => `product ${id} already exists`,
    ),
    ...checkPrefixes(products),
    ...products.flatMap((product, index) => checkProduct(product, ['products', index])),
    ...products.flatMap(({ plans }, index) => checkCharges(plans, { provider: billing?.provider, at: ['products', index, 'plans'] })),
  ];
}

/**
 * Stripe and Razorpay charge currencies with three decimals in steps of ten.
 * https://docs.stripe.com/currencies#three-decimal, https://razorpay.com/docs/payments/payments/currency-conversion
 */
function checkCharges(
  plans: CatalogueProduct['plans'],
  { provider, at }: { readonly provider: string | undefined; readonly at: (string | number)[] },
): CatalogueMistake[] {
  if (!isPaymentProvider(provider)) return [];
  return plans.flatMap(({ price, currency, approval }, index) => {
    if (approval !== 'automatic' || decimalsOf(currency) !== 3 || toMinor(price, currency) % 10n === 0n) return [];
    return [
      {
        path: [...at, index, 'price'],
        message: `must be in steps of ${fromMinor(10, currency)}: ${provider} charges no other ${currency}`,
      },
    ];
  });
}

/** The rules between the members of a plan, by paths from the plan on. */
export function checkPlan({
  daily,
  monthly,
  price,
  currency,
  overage,
}: Omit<CataloguePlan, 'name' | 'approval' | 'rate'>): CatalogueMistake[] {
  const decimals = (amount: string, path: string[]): CatalogueMistake[] =>
    fitsDecimals(amount, currency) ? [] : [{ path, message: `must have ${decimalsOf(currency) || 'no'} decimals, as ${currency} has` }];
  if (!overage) return decimals(price, ['price']);
  const { cap } = overage;
  const low = (['daily', 'monthly'] as const).filter((name) => cap[name] < { daily, monthly }[name]);
  return [
    ...decimals(price, ['price']),
    ...decimals(overage.price, ['overage', 'price']),
    ...(toMinor(price, currency) === 0n ? [{ path: ['overage'], message: 'is for plans with a price' }] : []),
    ...low.map((name) => ({ path: ['overage', 'cap', name], message: `is below the plan's ${name} limit` })),
    ...(cap.daily === daily && cap.monthly === monthly
      ? [{ path: ['overage', 'cap'], message: 'must be above the limits of the plan, by the day or by the month' }]
      : []),
  ];
}

/** Reports every repeated value at its second place. */
function findRepeats(
  texts: readonly string[],
  place: (index: number) => (string | number)[],
  say: (text: string) => string,
): CatalogueMistake[] {
  const seen = new Set<string>();
  return texts.flatMap((text, index) => {
    if (seen.has(text)) return [{ path: place(index), message: say(text) }];
    seen.add(text);
    return [];
  });
}

/** `/a` and `/a/b` conflict: a request below the second would be below the first as well. */
function checkPrefixes(products: readonly CatalogueProduct[]): CatalogueMistake[] {
  const owners = new Map<string, string>();
  const mistakes: CatalogueMistake[] = [];
  products.forEach(({ id, prefix }, index) => {
    const owner = prefix === null ? undefined : owners.get(prefix);
    if (owner !== undefined) mistakes.push({ path: ['products', index, 'prefix'], message: `${prefix} is already the prefix of ${owner}` });
    else if (prefix !== null) owners.set(prefix, id);
  });
  products.forEach(({ prefix }, index) => {
    const above = prefix === null ? undefined : foldersOf(prefix).find((folder) => owners.has(folder));
    if (above === undefined) return;
    const message = `${prefix} lies below ${above}, the prefix of ${owners.get(above)}`;
    mistakes.push({ path: ['products', index, 'prefix'], message });
  });
  return mistakes;
}

/** The folders of `/a/b/c`: `/a/b` and `/a`. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

function isBelow(path: string, prefix: string | null): boolean {
  return prefix !== null && (path === prefix || path.startsWith(`${prefix}/`));
}

function checkProduct(product: CatalogueProduct, at: (string | number)[]): CatalogueMistake[] {
  const { prefix, routes, plans, base, subscribable, sandboxUrl, testKeys, firstCall, units } = product;
  return [
    ...(base === null && subscribable
      ? [{ path: [...at, 'subscribable'], message: 'must be false if base is null: customers cannot subscribe without limits' }]
      : []),
    ...(prefix === null && subscribable
      ? [{ path: [...at, 'subscribable'], message: 'must be false if prefix is null: a product that cannot be called is not sold' }]
      : []),
    ...(sandboxUrl !== undefined && testKeys !== undefined
      ? [{ path: [...at, 'test_keys'], message: 'must be absent if sandbox_url is given, which serves the test keys' }]
      : []),
    ...(firstCall !== undefined && !isBelow(firstCall.replace(/\?.*/, ''), prefix)
      ? [{ path: [...at, 'first_call'], message: `${firstCall} is not below the prefix${prefix === null ? '' : ` ${prefix}`}` }]
      : []),
    ...(units && [base, ...plans].some((limits) => limits && limits.daily < units.reserve)
      ? [{ path: [...at, 'units', 'reserve'], message: 'is above a daily limit: no request could be made' }]
      : []),
    ...(!subscribable && plans.length > 0 ? [{ path: [...at, 'plans'], message: 'must be empty if subscribable is false' }] : []),
    ...routes.flatMap(({ path }, index) =>
      isBelow(path, prefix)
        ? []
        : [{ path: [...at, 'routes', index, 'path'], message: `${path} is not below the prefix${prefix === null ? '' : ` ${prefix}`}` }],
    ),
    ...Object.entries(product.aliases ?? {}).flatMap(([alias, route]) =>
      routes.some(({ path }) => path === route)
        ? []
        : [{ path: [...at, 'aliases', alias], message: `${route} is not a route of the product` }],
    ),
    ...findRepeats(
      routes.map(({ method, path }) => `${method} ${path}`),
      (index) => [...at, 'routes', index],
      (named) => `${named} is there already`,
    ),
    ...findRepeats(
      plans.map(({ name }) => name.toLowerCase()),
      (index) => [...at, 'plans', index, 'name'],
      (name) => `a plan named ${name} already exists; case does not matter`,
    ),
  ];
}
