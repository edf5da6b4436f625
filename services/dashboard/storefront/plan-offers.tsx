import { type ReactNode } from 'react';
import { type CataloguePlan, type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { openedText } from '../reference/live-routes';
import { FREE_PLAN, NO_CHARGE } from '../reference/plan-name';
import { countedBy, describeLimits, describePlan, formatCount, formatPrice } from '../brand/wording';
import { type PageTools, signUpPath } from './page-frame';

/** `100 times` the free requests a day, if it is more. */
function timesMore(plan: CataloguePlan, free: CatalogueProduct['base']): string | undefined {
  if (!free || free.daily === 0 || plan.daily <= free.daily) return undefined;
  const times = plan.daily / free.daily;
  return `${formatCount(Math.round(times * 10) / 10)} times`;
}

/** Where a reader chooses a plan: the dashboard opens it, after signing up if needed. */
export function planPath({ isSignedIn }: PageTools, product: string, plan: string): string {
  const page = `/plans?product=${encodeURIComponent(product)}&plan=${encodeURIComponent(plan)}`;
  return isSignedIn ? page : signUpPath(page);
}

function Offer({
  name,
  price,
  limits,
  more,
  counted,
  href,
  asks = false,
  opened,
  tools,
}: {
  readonly name: string;
  readonly price: string;
  readonly limits: string;
  /** What it offers beyond the free limits. */
  readonly more: string | undefined;
  readonly counted: 'units' | 'requests';
  /** Where it is chosen. */
  readonly href: string;
  /** Whether the seller gives it on request. */
  readonly asks?: boolean;
  /** What live keys open today, if that is not everything. */
  readonly opened: string | undefined;
  readonly tools: PageTools;
}): ReactNode {
  return (
    <li>
      <h3>{name}</h3>
      <p className="price">{price}</p>
      <p>
        {more !== undefined && (
          <>
            <strong>{more}</strong> the {counted} that are free:{' '}
          </>
        )}
        {limits}
      </p>
      {opened !== undefined && <p>{opened}</p>}
      {asks && <p className="quiet">You ask for it when you are signed in. It begins when we agree; an email tells you so.</p>}
      <p>
        <a className="button second" href={href}>
          {asks ? 'Ask us' : tools.isSignedIn ? 'See in your plans' : 'Sign up'}
        </a>
      </p>
    </li>
  );
}

interface PlanOffersProps {
  readonly tools: PageTools;
  readonly product: CatalogueProduct;
}

/** A card for each plan of a product, with a link to take it. */
export function PlanOffers({ tools, product }: PlanOffersProps): ReactNode {
  const { base, plans } = product;
  const counted = countedBy(product.units !== undefined);
  const source = tools.liveSources?.find(product.id);
  const opened = source ? openedText(source) : undefined;
  return (
    <ul className="product-cards offers">
      {base && (
        <Offer
          name={FREE_PLAN}
          price={NO_CHARGE}
          limits={describeLimits(base)}
          more={undefined}
          counted={counted}
          href={planPath(tools, product.id, FREE_PLAN)}
          opened={opened}
          tools={tools}
        />
      )}
      {plans.map((plan) => (
        <Offer
          key={plan.name}
          name={plan.name}
          price={`${formatPrice(plan)} a month`}
          limits={describePlan(plan)}
          more={timesMore(plan, base)}
          counted={counted}
          href={planPath(tools, product.id, plan.name)}
          asks={plan.approval === 'request'}
          opened={opened}
          tools={tools}
        />
      ))}
    </ul>
  );
}
