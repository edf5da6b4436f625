import { isDeepStrictEqual } from 'node:util';
import { paceOf } from '../../../plugins/core/access/rate';
import {
  type Catalogue,
  type CataloguePlan,
  type CatalogueProduct,
  type QuotaLimits,
  type Rate,
} from '../../../plugins/core/catalogue/catalogue';
import { enforcedLimits } from './overage';

export interface FieldChange {
  readonly before: unknown;
  readonly after: unknown;
}

/** One product or plan, or how customers are billed, that is new, changed or removed. A removed one is no longer sold; customers who have it keep it. */
export interface CatalogueChange {
  readonly action: 'add' | 'change' | 'retire';
  readonly product: string;
  /** Absent: the product itself. */
  readonly plan?: string;
  /** The change is of how customers are billed; `product` is `billing` then. */
  readonly isBilling?: true;
  /** Changes by the member's name; empty unless the action is `change`. */
  readonly fields: Readonly<Record<string, FieldChange>>;
  /** Limits that become lower. */
  readonly falls: readonly (keyof QuotaLimits)[];
}

/** The changes that turn `before` into `after`. The order of products only affects how they are shown, so it is not a change. */
export function compareCatalogues(before: Catalogue, after: Catalogue): CatalogueChange[] {
  const kept = after.products.flatMap((product): CatalogueChange[] => {
    const known = before.find(product.id);
    if (!known) return [bare('add', product.id), ...product.plans.map(({ name }) => bare('add', product.id, name))];
    return [
      ...changeOf(factsOf(known), factsOf(product), { product: product.id, falls: fallsOf(known.base ?? {}, product.base ?? {}) }),
      ...comparePlans(known, product),
    ];
  });
  const gone = before.products.filter(({ id }) => after.find(id) === undefined);
  const retired = gone.flatMap(({ id, plans }) => [bare('retire', id), ...plans.map(({ name }) => bare('retire', id, name))]);
  return [...compareBilling(before, after), ...kept, ...retired];
}

const NO_BILLING = { provider: null, seller: null, invoices: null, tax: null };

/** Always a change: without `billing` its members are null. */
function compareBilling(before: Catalogue, after: Catalogue): CatalogueChange[] {
  const facts = ({ billing }: Catalogue): Facts => ({ ...NO_BILLING, ...billing });
  return changeOf(facts(before), facts(after), { product: 'billing', isBilling: true, falls: [] });
}

function comparePlans(before: CatalogueProduct, after: CatalogueProduct): CatalogueChange[] {
  const product = after.id;
  const known = new Map(before.plans.map((plan) => [plan.name, plan]));
  const offered = new Set(after.plans.map(({ name }) => name));
  return [
    ...after.plans.flatMap((plan) => {
      const old = known.get(plan.name);
      if (!old) return [bare('add', product, plan.name)];
      const falls = fallsOf({ ...enforcedLimits(old), rate: old.rate }, { ...enforcedLimits(plan), rate: plan.rate });
      return changeOf(termsOf(old), termsOf(plan), { product, plan: plan.name, falls });
    }),
    ...before.plans.filter(({ name }) => !offered.has(name)).map(({ name }) => bare('retire', product, name)),
  ];
}

function bare(action: 'add' | 'retire', product: string, plan?: string): CatalogueChange {
  return { action, product, ...(plan !== undefined && { plan }), fields: {}, falls: [] };
}

type Facts = Readonly<Record<string, unknown>>;

/** A product without its plans, by the names that catalogue.yml has; absent members are null. */
function factsOf({
  title,
  description,
  prefix,
  routes,
  base,
  subscribable,
  consent,
  slots,
  uncharged,
  sandboxUrl,
  testKeys,
  proof,
  openapi,
  firstCall,
  keyIn,
  largeBodies,
  alsoAdmits,
  aliases,
  units,
  alert,
  sources,
}: CatalogueProduct): Facts {
  const limits = { daily: base?.daily ?? null, monthly: base?.monthly ?? null, rate: base?.rate ?? null };
  return {
    title,
    description,
    prefix,
    routes,
    ...limits,
    subscribable,
    consent: consent ?? null,
    slots: slots ?? null,
    uncharged: uncharged ?? null,
    sandbox_url: sandboxUrl ?? null,
    test_keys: testKeys ?? null,
    proof: proof ?? null,
    openapi: openapi ?? null,
    first_call: firstCall ?? null,
    key_in: keyIn ?? null,
    large_bodies: largeBodies ?? null,
    also_admits: alsoAdmits ?? null,
    aliases: aliases ?? null,
    units: units ?? null,
    alert: alert ? { failures: `${alert.failures}%`, at_least: alert.atLeast } : null,
    sources: sources?.map(({ asOf, ...source }) => ({ ...source, ...(asOf !== undefined && { as_of: asOf }) })) ?? null,
  };
}

function termsOf({ daily, monthly, price, currency, approval, overage, rate }: CataloguePlan): Facts {
  return { daily, monthly, price, currency, approval, overage: overage ?? null, rate: rate ?? null };
}

function changeOf(before: Facts, after: Facts, of: Omit<CatalogueChange, 'action' | 'fields'>): CatalogueChange[] {
  const names = Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (names.length === 0) return [];
  const fields = Object.fromEntries(names.map((name) => [name, { before: before[name], after: after[name] }]));
  return [{ action: 'change', ...of, fields }];
}

function fallsOf(before: Partial<QuotaLimits>, after: Partial<QuotaLimits>): (keyof QuotaLimits)[] {
  const lower = (['daily', 'monthly'] as const).filter((name) => (after[name] ?? Infinity) < (before[name] ?? -Infinity));
  return isSlower(after.rate, before.rate) ? [...lower, 'rate'] : lower;
}

/** A new rate where there was none is a restriction. */
function isSlower(after: Rate | undefined, before: Rate | undefined): boolean {
  if (!after) return false;
  return !before || paceOf(after) < paceOf(before) || after.burst < before.burst;
}
