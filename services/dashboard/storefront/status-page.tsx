import { type ReactNode } from 'react';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { type OutageView } from '../../selling/outages/list-outages';
import { type AvailabilityDay } from '../../selling/outages/read-product-answers';
import { PageFrame, type PageTools } from './page-frame';
import { isOffered, NOTHING_ON_SALE } from '../brand/wording';

/** Days that the page shows, today included. */
export const STATUS_DAYS = 90;

/** What the page tells. */
export interface StatusContent {
  /** Of the last {@link STATUS_DAYS} days; a day that is not known has no entry. */
  readonly days: readonly AvailabilityDay[];
  readonly outages: readonly OutageView[];
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly today: string;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
}

type Counts = Pick<AvailabilityDay, 'answered' | 'failed'>;

const DATES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const formatDay = (day: string): string => DATES.format(new Date(day));

/** `99.95%`, never rounded up: 100% is a day without a failure. */
export function formatAvailability({ answered, failed }: Counts): string {
  const share = Math.floor(((answered - failed) / answered) * 10_000) / 100;
  return `${failed === 0 ? '100' : Math.min(share, 99.99).toFixed(2)}%`;
}

const [GOOD, PARTLY] = [0.999, 0.95];

function levelOf({ answered, failed }: Counts): 'good' | 'partly' | 'bad' {
  const share = (answered - failed) / answered;
  if (share >= GOOD) return 'good';
  return share >= PARTLY ? 'partly' : 'bad';
}

function daysUpTo(today: string): string[] {
  const last = Date.parse(today);
  return Array.from({ length: STATUS_DAYS }, (_, place) =>
    new Date(last - (STATUS_DAYS - 1 - place) * 86_400_000).toISOString().slice(0, 10),
  );
}

function summaryOf(known: readonly Counts[]): string {
  if (known.length === 0) return `Not known: nothing was reported in the last ${STATUS_DAYS} days.`;
  const sum = known.reduce((all, { answered, failed }) => ({ answered: all.answered + answered, failed: all.failed + failed }), {
    answered: 0,
    failed: 0,
  });
  const unknown = STATUS_DAYS - known.length;
  const rest = unknown === 0 ? '' : ` Not known on ${unknown} of them.`;
  return `${formatAvailability(sum)} available in the last ${STATUS_DAYS} days.${rest}`;
}

/** A day that is not known has neither class nor title: on a new installation most are such. */
function Day({ day, counts }: { readonly day: string; readonly counts: Counts | undefined }): ReactNode {
  return counts ? <i className={levelOf(counts)} title={`${formatDay(day)}: ${formatAvailability(counts)}`} /> : <i />;
}

function Product({ product, content }: { readonly product: CatalogueProduct; readonly content: StatusContent }): ReactNode {
  const { days, outages, today, timeZone } = content;
  const known = new Map(days.filter((each) => each.product === product.id).map((each) => [each.day, each]));
  const outage = outages.find((each) => each.product === product.id && each.endedAt === null);
  const summary = summaryOf([...known.values()]);
  const flawed = [...known.values()].filter(({ failed }) => failed > 0).reverse();
  const now = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone });
  return (
    <section className="availability" aria-labelledby={`status-${product.id}`}>
      <h2 id={`status-${product.id}`}>
        {product.title} {outage && <span className="badge bad">Failing since {now.format(outage.beganAt)}</span>}
      </h2>
      <div className="days" role="img" aria-label={summary}>
        {known.size === 0 ? <i /> : daysUpTo(today).map((day) => <Day key={day} day={day} counts={known.get(day)} />)}
      </div>
      <p className="quiet">{summary}</p>
      {flawed.length > 0 && (
        <details>
          <summary>Days with failures</summary>
          <ul>
            {flawed.map((each) => (
              <li key={each.day}>
                <time dateTime={each.day}>{formatDay(each.day)}</time>: {formatAvailability(each)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function headlineOf(products: readonly CatalogueProduct[], { outages }: StatusContent): string {
  if (products.length === 0) return NOTHING_ON_SALE;
  const failing = products.filter(({ id }) => outages.some(({ product, endedAt }) => product === id && endedAt === null));
  if (failing.length === 0) return 'No outage is known.';
  return `${failing.map(({ title }) => title).join(', ')} ${failing.length === 1 ? 'is' : 'are'} failing.`;
}

interface StatusPageProps {
  readonly tools: PageTools;
  readonly products: readonly CatalogueProduct[];
  readonly content: StatusContent;
}

/** How available each product was, day by day. */
export function StatusPage({ tools, products, content }: StatusPageProps): ReactNode {
  const offered = products.filter(isOffered);
  const description = `Availability of each product of ${tools.brand.name} by day for the last ${STATUS_DAYS} days.`;
  return (
    <PageFrame tools={tools} title="Status" description={description} path="/status">
      <h1>Status</h1>
      <p className="lead">{headlineOf(offered, content)}</p>
      {offered.length > 0 && (
        <p>
          Each bar is a day ({content.timeZone}), the last is today, up to a minute old. It shows the share of answers that did not fail
          with a status of 500 to 599. Pale: not known, because nobody called or nothing was reported.
        </p>
      )}
      {offered.map((product) => (
        <Product key={product.id} product={product} content={content} />
      ))}
    </PageFrame>
  );
}
