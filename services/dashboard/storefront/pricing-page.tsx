import { type ReactNode } from 'react';
import { FREE_PLAN, NO_CHARGE } from '../reference/plan-name';
import { type CataloguePlan, type CatalogueProduct, refusesTestKeys } from '../../../plugins/core/catalogue/catalogue';
import { fromMinor, toMinor } from '../../../plugins/core/catalogue/money';
import { enforcedLimits, overageAmount } from '../../selling/catalogue/overage';
import { PageFrame, type PageTools, signUpPath } from './page-frame';
import { PlanOffers, planPath } from './plan-offers';
import { NoLiveSource } from './product-table';
import { describeLimits, describePlan, formatCount, formatPrice, isOffered, NOTHING_ON_SALE } from '../brand/wording';

/** The choices of requests a month on the page of prices. */
const REQUEST_STEPS = [1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000] as const;
const USUAL_STEP = 3;

/** A month has at most this many days. */
const DAYS = 30;

/** The offer for a number of requests a month: a plan, the base limits (without a plan), or nothing that is sold. */
type Choice =
  | { readonly kind: 'plan'; readonly plan: CataloguePlan; readonly cost: string; readonly above: number }
  | { readonly kind: 'base' }
  | { readonly kind: 'none' };

/** The price including what is above the limits, in the currency's decimals. */
function costOf(plan: CataloguePlan, requests: number): { plan: CataloguePlan; cost: string; above: number } {
  const { price, currency, daily, monthly, overage } = plan;
  const above = Math.max(0, requests - Math.min(daily * DAYS, monthly));
  const extra = overage ? toMinor(overageAmount(above, overage, currency), currency) : 0n;
  return { plan, cost: fromMinor(toMinor(price, currency) + extra, currency), above };
}

/**
 * The cheapest offer with room for that many requests a month, spread evenly over its days.
 * @param requests a month
 */
function choosePlan({ base, plans }: CatalogueProduct, requests: number): Choice {
  const hasRoom = ({ daily, monthly }: { daily: number; monthly: number }): boolean => monthly >= requests && daily * DAYS >= requests;
  if (base && hasRoom(base)) return { kind: 'base' };
  const offers = plans.filter((plan) => hasRoom(enforcedLimits(plan))).map((plan) => costOf(plan, requests));
  const [cheapest] = offers.sort((a, b) => Number(a.cost) - Number(b.cost));
  return cheapest ? { kind: 'plan', ...cheapest } : { kind: 'none' };
}

/** @returns the index in REQUEST_STEPS that a page's address names; the default for anything else */
export function stepOf(text: unknown): number {
  const step = typeof text === 'string' && /^\d$/.test(text) ? Number(text) : USUAL_STEP;
  return step < REQUEST_STEPS.length ? step : USUAL_STEP;
}

interface PricingPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  /** The index in REQUEST_STEPS that the costs are for. */
  readonly step: number;
}

const IN_UNITS = 'Counted in units. Each response says how many it cost.';

/** The slider. Moving it sends the form by a script; without a script the button does. */
function Expected({ step, requests }: { readonly step: number; readonly requests: number }): ReactNode {
  return (
    <form className="expected" action="/pricing" method="get">
      <label htmlFor="requests">
        Requests a month for one product: <output htmlFor="requests">{formatCount(requests)}</output>
      </label>
      <input
        id="requests"
        name="requests"
        type="range"
        min={0}
        max={REQUEST_STEPS.length - 1}
        step={1}
        defaultValue={step}
        aria-valuetext={`${formatCount(requests)} requests`}
        data-steps={REQUEST_STEPS.map(formatCount).join(' ')}
      />
      <span className="ends quiet" aria-hidden>
        <span>{formatCount(REQUEST_STEPS[0])}</span>
        <span>{formatCount(REQUEST_STEPS.at(-1) ?? 0)}</span>
      </span>
      <button className="button second" type="submit">
        Show the costs
      </button>
    </form>
  );
}

function Cost({ product, requests }: { readonly product: CatalogueProduct; readonly requests: number }): ReactNode {
  const choice = choosePlan(product, requests);
  switch (choice.kind) {
    case 'base':
      return (
        <>
          <strong>{NO_CHARGE}</strong> <span className="quiet block">With {FREE_PLAN}</span>
        </>
      );
    case 'plan':
      return (
        <>
          <strong>{formatPrice({ price: choice.cost, currency: choice.plan.currency })}</strong>{' '}
          <span className="quiet block">
            With {choice.plan.name}
            {choice.above > 0 && `, ${formatCount(choice.above)} above its limits`}
          </span>
        </>
      );
    case 'none':
      return <span className="quiet">No plan has room for this</span>;
  }
}

function Plans({ product, tools }: { readonly product: CatalogueProduct; readonly tools: PageTools }): ReactNode {
  const { id, base, plans } = product;
  return (
    <ul className="plain">
      {product.units && <li className="quiet">{IN_UNITS}</li>}
      {base && (
        <li>
          <strong>{FREE_PLAN}</strong>: {describeLimits(base)}
        </li>
      )}
      {plans.map((plan) => (
        <li key={plan.name}>
          <strong>{plan.name}</strong>: {formatPrice(plan)} a month, {describePlan(plan)}
          {plan.approval === 'request' && (
            <span className="quiet block">
              <a href={planPath(tools, id, plan.name)}>Ask us</a>: it begins when we agree; an email tells you so.
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What is charged, in the words of the guides. */
function WhatCounts({ offered }: { readonly offered: readonly CatalogueProduct[] }): ReactNode {
  const sellsMore = offered.some(({ plans }) => plans.some(({ overage }) => overage));
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">What counts as a request</h2>
      <ul className="limits">
        <li>Every request that the gateway lets in counts as one. Routes that do the work of many requests say how many they count as.</li>
        <li>A request that the gateway refuses does not count, whether for its key, its limit or its caller.</li>
        <li>A request that fails through no fault of yours is given back. A failure that your request caused counts.</li>
        {!offered.every(refusesTestKeys) && <li>Test keys have limits of their own and cost nothing.</li>}
        <li>
          When a limit is used up, requests are refused.{' '}
          {sellsMore
            ? 'If a plan sells more, requests are refused at its cap, and what you use above its limits is charged by the day.'
            : 'Nothing is charged beyond the price of the plan.'}
        </li>
      </ul>
    </section>
  );
}

interface CostsProps extends Omit<PricingPageProps, 'products'> {
  readonly offered: readonly CatalogueProduct[];
}

/** More plans are shown in a table: their cards would fill several screens and could not be compared. */
const MAX_AS_CARDS = 3;

/** Each product with a card for each of its plans. */
function ProductOffers({ tools, offered, requests }: Omit<CostsProps, 'step'> & { readonly requests: number }): ReactNode {
  return offered.map((product) => (
    <section key={product.id} id={product.id} aria-labelledby={`${product.id}-plans`}>
      <h2 id={`${product.id}-plans`}>
        <a href={`/products/${product.id}`}>{product.title}</a>
      </h2>
      {product.units && <p className="quiet">{IN_UNITS}</p>}
      <p className="cost">
        <span className="quiet">{formatCount(requests)} a month: </span>
        <Cost product={product} requests={requests} />
      </p>
      <PlanOffers tools={tools} product={product} />
    </section>
  ));
}

function ProductLines({ tools, offered, requests }: Omit<CostsProps, 'step'> & { readonly requests: number }): ReactNode {
  return (
    <table className="products pricing">
      <thead>
        <tr>
          <th scope="col">Product</th>
          <th scope="col">Plans</th>
          <th scope="col">{formatCount(requests)} a month</th>
        </tr>
      </thead>
      <tbody>
        {offered.map((product) => (
          <tr key={product.id} id={product.id}>
            <th scope="row">
              <a href={`/products/${product.id}`}>{product.title}</a>
            </th>
            <td data-label="Plans">
              <Plans product={product} tools={tools} />
              <NoLiveSource source={tools.liveSources?.find(product.id) ?? null} />
            </td>
            <td data-label={`${formatCount(requests)} a month`}>
              <Cost product={product} requests={requests} />
              {product.units && <span className="quiet block">For as many units</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Costs({ tools, offered, step }: CostsProps): ReactNode {
  const requests = REQUEST_STEPS[step] ?? REQUEST_STEPS[0];
  return (
    <>
      <Expected step={step} requests={requests} />
      {offered.length > MAX_AS_CARDS ? (
        <ProductLines tools={tools} offered={offered} requests={requests} />
      ) : (
        <ProductOffers tools={tools} offered={offered} requests={requests} />
      )}
      <p className="quiet">
        The cheapest plan with room for these requests, spread evenly over 30 days. Prices are for one product and month.
      </p>
      <WhatCounts offered={offered} />
    </>
  );
}

/** All plans, and what an expected use costs a month. */
export function PricingPage({ tools, products, step }: PricingPageProps): ReactNode {
  const offered = products.filter(isOffered);
  const description =
    offered.length === 0 ? NOTHING_ON_SALE : 'Every plan with its limits and its price, and what your expected requests cost a month.';
  return (
    <PageFrame tools={tools} title="Pricing" description={description} path="/pricing" products={offered}>
      <h1>Pricing</h1>
      <p className="lead">{description}</p>
      {offered.length > 0 && <Costs tools={tools} offered={offered} step={step} />}
      <p className="actions">
        <a className="button" href={tools.isSignedIn ? '/plans' : signUpPath('/pricing')}>
          {tools.isSignedIn ? 'Your plans' : 'Create an account'}
        </a>
      </p>
    </PageFrame>
  );
}
