import { type KeyPlace } from '../key-places';
import { type AlertRule } from './outage';
import { type BillingTerms } from './billing-terms';
import { type Exemption } from './refunds';
import { type UnitsByAnswer } from './units';

/**
 * The shape of the catalogue: products with their routes, limits and plans. The figures themselves are data in `kong/catalogue.yml`, which
 * each process passes in when it starts; see parse-catalogue.ts.
 */

/** The form of a product's id in the database, keys, metrics and URLs. */
export const PRODUCT_ID = /^[a-z][a-z0-9-]{0,62}$/;

/** Methods that Tollgate's services accept. `ANY` is a route without a method restriction. */
export type PublishedMethod = 'ANY' | 'GET' | 'POST';

/** Other upstreams may accept more. */
type CatalogueMethod = PublishedMethod | 'PUT' | 'PATCH' | 'DELETE';

export interface CatalogueRoute {
  readonly method: CatalogueMethod;
  /** Full path below the base URL, for example `/weather/today`. */
  readonly path: string;
  readonly purpose: string;
}

export interface DayAndMonth {
  /** Requests a day. */
  readonly daily: number;
  /** Requests a month. */
  readonly monthly: number;
}

/** How often requests may come. A request that costs several units is still one request. */
export interface Rate {
  /** Requests in each window, on average. */
  readonly limit: number;
  readonly windowSeconds: 1 | 60;
  /** Requests that may come at once, after a pause. */
  readonly burst: number;
}

export interface QuotaLimits extends DayAndMonth {
  /** Absent: no rate limit. */
  readonly rate?: Rate | undefined;
  /** Limits that the price includes, if use above them is charged; absent if nothing is sold above the limits. */
  readonly included?: DayAndMonth | undefined;
}

/** Use that a plan sells above its limits. */
export interface Overage {
  /** Number of requests, or units, for this price. */
  readonly per: number;
  /** Has the decimals of the plan's currency. Text, so that no rounding can happen. */
  readonly price: string;
  /** The limits at which requests are refused, instead of the plan's. */
  readonly cap: DayAndMonth;
}

export interface CataloguePlan extends QuotaLimits {
  readonly name: string;
  /** Price a month with the currency's decimals. Text, so that no rounding can happen. */
  readonly price: string;
  /** ISO 4217, for example `INR`. */
  readonly currency: string;
  /** `request`: a customer requests the plan, and an operator decides. */
  readonly approval: 'automatic' | 'request';
  /** Absent: requests are refused at the limits. */
  readonly overage?: Overage | undefined;
}

/**
 * How the proofs of a product are signed. `hs256`: with the product's own key, for products of Tollgate's services. `eddsa`: with the one
 * key of plugin servers, which anyone can verify with the public key set.
 */
export const PROOF_FORMS = ['hs256', 'eddsa'] as const;
export type ProofForm = (typeof PROOF_FORMS)[number];

/** A source of a product's data, as customers see it. */
interface DataSource {
  readonly name: string;
  /** `https://…` */
  readonly url?: string | undefined;
  /** `YYYY-MM-DD` of the data. Absent: the data is current. */
  readonly asOf?: string | undefined;
}

export interface CatalogueProduct {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Route prefix, or null when no route is published. */
  readonly prefix: string | null;
  readonly routes: readonly CatalogueRoute[];
  /** Limits of a subscription without a plan; null when none are published, and then customers cannot subscribe. */
  readonly base: QuotaLimits | null;
  /** False: the product is only listed. */
  readonly subscribable: boolean;
  readonly plans: readonly CataloguePlan[];
  /** How many requests of one subscription may run at once, for products with long requests. Absent: unlimited. */
  readonly slots?: number | undefined;
  /** The text to which a customer must agree before subscribing. Absent: none. */
  readonly consent?: string | undefined;
  /** Responses that are never charged, whatever their cause; see `isExempt`. Services read it at start. */
  readonly uncharged?: readonly Exemption[] | undefined;
  /** Address that serves test keys, for products with an upstream outside Tollgate: `http://host:port`. */
  readonly sandboxUrl?: string | undefined;
  /** `service`: the product's own service serves test keys. `live`: test keys reach the live API. */
  readonly testKeys?: 'service' | 'live' | undefined;
  /** Absent: `eddsa`. */
  readonly proof?: ProofForm | undefined;
  /** File beside the catalogue, or URL, of the upstream's own OpenAPI document. */
  readonly openapi?: string | undefined;
  /** Path and query of a GET worth trying first. */
  readonly firstCall?: string | undefined;
  /** The only places in which its key may be. Absent: all that its gateway reads. */
  readonly keyIn?: readonly KeyPlace[] | undefined;
  /** True if its request bodies may take minutes to arrive. */
  readonly largeBodies?: boolean | undefined;
  /** Products whose subscriptions also open its routes, in the order in which they are tried. */
  readonly alsoAdmits?: readonly string[] | undefined;
  /** Paths outside the prefix → the route that each stands for. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  /** Absent: a request costs one unit, or the number in kong.yml (`post_units`). */
  readonly units?: UnitsByAnswer | undefined;
  /** When failures are reported to the seller. Absent: `USUAL_ALERT`. */
  readonly alert?: AlertRule | undefined;
  /** Absent: nothing is shown. */
  readonly sources?: readonly DataSource[] | undefined;
}

/** True if a sandbox serves the product's test keys. */
export function hasSandbox({ sandboxUrl, testKeys }: CatalogueProduct): boolean {
  return sandboxUrl !== undefined || testKeys === 'service';
}

/** True if test keys of the product are refused: it has no sandbox, and the catalogue does not open its live API to them. */
export function refusesTestKeys(product: CatalogueProduct): boolean {
  return !hasSandbox(product) && product.testKeys !== 'live';
}

/** The places of the products in the file from which they were read. */
export interface CatalogueSource {
  /** For example `kong/catalogue.yml`. */
  readonly file: string;
  /** Product → line, counted from 1. */
  readonly lines: Readonly<Record<string, number>>;
}

/** Every product, in display order. */
export interface Catalogue {
  readonly products: readonly CatalogueProduct[];
  /** Absent if it was not read from a file. */
  readonly source?: CatalogueSource | undefined;
  /** Absent: customers are not invoiced. */
  readonly billing?: BillingTerms | undefined;
  /** The product with this id; the argument may be any text. */
  find(id: string): CatalogueProduct | undefined;
}

export function createCatalogue(
  products: readonly CatalogueProduct[],
  { source, billing }: Pick<Catalogue, 'source' | 'billing'> = {},
): Catalogue {
  const byId = new Map(products.map((product) => [product.id, product]));
  return { products, source, billing, find: (id) => byId.get(id) };
}
