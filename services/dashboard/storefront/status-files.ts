import { addUpDays, availablePercent, knownDays } from '../../selling/outages/availability';
import { type OutageView } from '../../selling/outages/list-outages';
import { type CatalogueProduct } from '../../../plugins/core/catalogue/catalogue';
import { isOffered } from '../brand/wording';
import { escapeXml } from '../brand/escape-xml';
import { outagesOf, STATUS_DAYS, type StatusContent } from './status-page';

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
