import { type ReactNode } from 'react';
import { windowsAt } from '../../../plugins/core/access/quota';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import {
  addUpDays,
  availablePercent,
  type Downtime,
  type KnownDay,
  knownDays,
  MIN_RESPONSES,
  type Observed,
} from '../../selling/outages/availability';
import { type OutageView } from '../../selling/outages/list-outages';
import { type AvailabilityDay } from '../../selling/outages/product-answers';
import { PageFrame, type PageTools } from './page-frame';
import { AskForm } from './status-mail-page';
import { escapeXml } from '../brand/escape-xml';
import { isOffered, NOTHING_ON_SALE } from '../brand/wording';

/** Days that the page shows, today included. */
export const STATUS_DAYS = 90;

/** What the page shows. */
export interface StatusContent extends Observed {
  /** The last {@link STATUS_DAYS} days. A day without responses has no entry. */
  readonly days: readonly AvailabilityDay[];
  /** Outages that go on or ended within those days, the latest first. */
  readonly outages: readonly OutageView[];
}

/** Outages of products that are offered. */
function outagesOf(offered: readonly CatalogueProduct[], { outages }: StatusContent): OutageView[] {
  return outages.filter(({ product }) => offered.some(({ id }) => id === product));
}

const DATES = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const formatDay = (day: string): string => DATES.format(new Date(day));

/** `99.95%`, never rounded up: 100% means no outage. */
function formatAvailability(time: Downtime): string {
  const percent = availablePercent(time);
  return `${percent === 100 ? '100' : percent.toFixed(2)}%`;
}

const [GOOD, PARTLY] = [100, 95];

function levelOf(day: KnownDay): 'good' | 'partly' | 'bad' {
  const percent = availablePercent(day);
  if (percent >= GOOD) return 'good';
  return percent >= PARTLY ? 'partly' : 'bad';
}

function daysUpTo({ nowMs, timeZone }: StatusContent): string[] {
  const last = Date.parse(windowsAt(nowMs / 1_000, timeZone).day);
  return Array.from({ length: STATUS_DAYS }, (_, place) =>
    new Date(last - (STATUS_DAYS - 1 - place) * 86_400_000).toISOString().slice(0, 10),
  );
}

function summaryOf(known: readonly KnownDay[]): string {
  if (known.length === 0) return `Not known: fewer than ${MIN_RESPONSES} responses were reported on each of the last ${STATUS_DAYS} days.`;
  const unknown = STATUS_DAYS - known.length;
  const rest = unknown === 0 ? '' : ` Not known on ${unknown} of them.`;
  return `${formatAvailability(addUpDays(known))} available in the last ${STATUS_DAYS} days.${rest}`;
}

/** An unknown day has neither class nor title: on a new installation most days are unknown. */
function Day({ known }: { readonly known: KnownDay | undefined }): ReactNode {
  return known ? <i className={levelOf(known)} title={`${formatDay(known.day)}: ${formatAvailability(known)}`} /> : <i />;
}

/** A script of the page shows the time in the reader's zone. */
function Time({ at, timeZone }: { readonly at: Date; readonly timeZone: string }): ReactNode {
  const text = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
  return (
    <time dateTime={at.toISOString()} data-zone="reader">
      {text} ({timeZone})
    </time>
  );
}

function Product({ product, content }: { readonly product: CatalogueProduct; readonly content: StatusContent }): ReactNode {
  const days = knownDays(product.id, content, STATUS_DAYS);
  const known = new Map(days.map((each) => [each.day, each]));
  const outage = content.outages.find((each) => each.product === product.id && each.endedAt === null);
  const summary = summaryOf(days);
  const flawed = days.filter(({ down }) => down > 0).reverse();
  return (
    <section className="availability" aria-labelledby={`status-${product.id}`}>
      <h2 id={`status-${product.id}`}>
        {product.title} {outage && <span className="badge bad">Failing</span>}
      </h2>
      <div className="days" role="img" aria-label={summary}>
        {known.size === 0 ? <i /> : daysUpTo(content).map((day) => <Day key={day} known={known.get(day)} />)}
      </div>
      <p className="quiet">{summary}</p>
      {flawed.length > 0 && (
        <details>
          <summary>Days with an outage</summary>
          <ul>
            {flawed.map((each) => (
              <li key={each.day}>
                <time dateTime={each.day}>{formatDay(each.day)}</time>: {formatAvailability(each)}, {Math.ceil(each.down)} min
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** What a reader wants to know first. */
function Banner({ products, content }: { readonly products: readonly CatalogueProduct[]; readonly content: StatusContent }): ReactNode {
  if (products.length === 0) return <p className="lead">{NOTHING_ON_SALE}</p>;
  const failing = outagesOf(products, content).filter(({ endedAt }) => endedAt === null);
  if (failing.length === 0) {
    const isKnown = products.some(({ id }) => knownDays(id, content, 1).length > 0);
    return <p className="lead">{isKnown ? 'All products are operational.' : 'No outage is known.'}</p>;
  }
  return (
    <div className="lead" role="status">
      {failing.map(({ id, title, beganAt }) => (
        <p key={id}>
          {title} is failing since <Time at={beganAt} timeZone={content.timeZone} />.
        </p>
      ))}
    </div>
  );
}

function Incidents({ outages, timeZone }: { readonly outages: readonly OutageView[]; readonly timeZone: string }): ReactNode {
  if (outages.length === 0) return null;
  return (
    <section aria-labelledby="incidents">
      <h2 id="incidents">Incidents</h2>
      <ul>
        {outages.map(({ id, title, beganAt, endedAt, answered, failed }) => (
          <li key={id}>
            {title}: <Time at={beganAt} timeZone={timeZone} /> to {endedAt ? <Time at={endedAt} timeZone={timeZone} /> : 'now'}. {failed} of{' '}
            {answered} responses failed.
          </li>
        ))}
      </ul>
    </section>
  );
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
    <PageFrame tools={tools} title="Status" description={description} path="/status" feed="/status.xml">
      <h1>Status</h1>
      <Banner products={offered} content={content} />
      {offered.length > 0 && (
        <p>
          Each bar is a day ({content.timeZone}), the last is today, up to a minute old. It shows the share of its minutes without an
          outage: at least 20% of a minute’s responses, and at least 20 of them, failed with a status of 500 to 599, unless the seller set
          another bound. Pale: not known, with fewer than {MIN_RESPONSES} responses. The same <a href="/status.json">as JSON</a> and{' '}
          <a href="/status.xml">as a feed</a>
          {tools.canMail && (
            <>
              , or <a href="#by-mail">by mail</a>
            </>
          )}
          .
        </p>
      )}
      {offered.map((product) => (
        <Product key={product.id} product={product} content={content} />
      ))}
      {tools.canMail && offered.length > 0 && (
        <section aria-labelledby="by-mail">
          <h2 id="by-mail">Get mail about outages</h2>
          <AskForm products={offered} />
        </section>
      )}
      <Incidents outages={outagesOf(offered, content)} timeZone={content.timeZone} />
    </PageFrame>
  );
}

/** The status page for programs: `/status.json`. Times are ISO 8601, UTC. */
export function writeStatusJson(products: readonly CatalogueProduct[], content: StatusContent): string {
  const offered = products.filter(isOffered);
  const shown = outagesOf(offered, content);
  const status = offered.map(({ id, title }) => {
    const days = knownDays(id, content, STATUS_DAYS);
    const failing = shown.find(({ product, endedAt }) => product === id && endedAt === null);
    return {
      product: id,
      title,
      failing: failing !== undefined,
      since: failing?.beganAt.toISOString() ?? null,
      available_percent: days.length === 0 ? null : availablePercent(addUpDays(days)),
      days: days.map((each) => ({ day: each.day, available_percent: availablePercent(each), outage_minutes: Math.ceil(each.down) })),
    };
  });
  const incidents = shown.map(({ product, beganAt, endedAt, answered, failed }) => ({
    ...{ product, began_at: beganAt.toISOString(), ended_at: endedAt?.toISOString() ?? null },
    ...{ responses: answered, failed },
  }));
  const { timeZone, nowMs } = content;
  return JSON.stringify({
    operational: status.every(({ failing }) => !failing),
    at: new Date(nowMs).toISOString(),
    time_zone: timeZone,
    products: status,
    incidents,
  });
}

/** The incidents as an Atom feed: `/status.xml`. An entry changes when its outage ends. */
export function writeStatusFeed(
  products: readonly CatalogueProduct[],
  content: StatusContent,
  { name, url }: { readonly name: string; readonly url: string },
): string {
  const shown = outagesOf(products.filter(isOffered), content);
  const updatedAt = ({ beganAt, endedAt }: OutageView): Date => endedAt ?? beganAt;
  const newest = shown.reduce((latest, each) => (updatedAt(each) > latest ? updatedAt(each) : latest), new Date(0));
  const page = escapeXml(`${url}/status`);
  const entries = shown.map((each) => {
    const { id, title, beganAt, endedAt, answered, failed } = each;
    const text = `${title} was failing from ${beganAt.toISOString()}${endedAt ? ` to ${endedAt.toISOString()}` : ''}: ${failed} of ${answered} responses failed.`;
    return `<entry><id>urn:uuid:${escapeXml(id)}</id><title>${escapeXml(`${title} ${endedAt ? 'has recovered' : 'is failing'}`)}</title><updated>${updatedAt(each).toISOString()}</updated><link href="${page}"/><content>${escapeXml(text)}</content></entry>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>${page}</id><title>${escapeXml(`${name}: status`)}</title><updated>${newest.toISOString()}</updated><author><name>${escapeXml(name)}</name></author><link rel="self" href="${escapeXml(`${url}/status.xml`)}"/><link href="${page}"/>\n${entries.join('')}</feed>\n`;
}
