import { type ReactNode } from 'react';
import { type DocPages } from './doc-pages';
import { anchorOf, Markdown, plainText } from './markdown';
import { PageFrame, type PageTools } from './page-frame';
import { escapeXml } from '../brand/escape-xml';

type Changelog = NonNullable<DocPages['changelog']>;

/** The text below one `##` of a changelog. */
interface ChangelogEntry {
  readonly title: string;
  readonly anchor: string;
  readonly text: string;
  /** The day in the entry's heading, else of the entry above it, else of the file. */
  readonly at: Date;
}

/** Entries in the file's order: newest first. */
function entriesOf({ text, changedAt }: Changelog): ChangelogEntry[] {
  let at = changedAt;
  return text
    .split(/^##\s+/m)
    .slice(1)
    .map((part) => {
      const [heading = ''] = part.split('\n', 1);
      const day = /\d{4}-\d{2}-\d{2}/.exec(heading)?.[0];
      if (day !== undefined && !Number.isNaN(Date.parse(day))) at = new Date(day);
      return { title: plainText(heading), anchor: anchorOf(heading), text: part.slice(heading.length).trim(), at };
    });
}

/** What changed, as the seller writes it. */
export function ChangelogPage({ tools, changelog }: { readonly tools: PageTools; readonly changelog: Changelog }): ReactNode {
  const description = `What changed in the APIs of ${tools.brand.name}, the newest first.`;
  return (
    <PageFrame tools={tools} title="Changelog" description={description} path="/changelog" feed="/changelog.xml">
      <h1>Changelog</h1>
      <p className="lead">
        {description} <a href="/changelog.xml">Feed</a>
      </p>
      <article>
        {entriesOf(changelog).map(({ title, anchor, text }) => (
          <section key={anchor} aria-labelledby={anchor}>
            <h2 id={anchor}>{title}</h2>
            <Markdown text={text} level={2} />
          </section>
        ))}
      </article>
    </PageFrame>
  );
}

/** The changelog as text for feed readers (RFC 4287). */
export function writeFeed(changelog: Changelog, { name, url }: { readonly name: string; readonly url: string }): string {
  const entries = entriesOf(changelog);
  const newest = entries.reduce((latest, { at }) => (at > latest ? at : latest), new Date(0));
  const items = entries.map(
    ({ title, anchor, text, at }) =>
      `<entry><id>${escapeXml(`${url}/changelog#${anchor}`)}</id><title>${escapeXml(title)}</title><updated>${at.toISOString()}</updated><link href="${escapeXml(`${url}/changelog#${anchor}`)}"/><content>${escapeXml(plainText(text))}</content></entry>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>${escapeXml(`${url}/changelog`)}</id><title>${escapeXml(`${name}: changelog`)}</title><updated>${newest.toISOString()}</updated><author><name>${escapeXml(name)}</name></author><link rel="self" href="${escapeXml(`${url}/changelog.xml`)}"/><link href="${escapeXml(`${url}/changelog`)}"/>\n${items.join('')}</feed>\n`;
}
