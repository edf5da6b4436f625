import { type Page } from 'playwright-core';
import { EXAMPLE_NAMES } from '../../support/example-names';
import { settle } from './browser';

/** More pages than there are: a walk that finds ever new ones is a defect of the walk. */
const MAX_PAGES = 80;

/** Where a text names the example catalogue, each with what stands around it. */
export function namesIn(place: string, text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const { index } = EXAMPLE_NAMES.exec(line) ?? {};
    return index === undefined ? [] : [`${place}: ${line.slice(Math.max(0, index - 60), index + 60)}`];
  });
}

/** All that a page says, to people or to programs, without its scripts, styles and pictures. */
export async function textOf(page: Page): Promise<string> {
  const html = await page.content();
  return html.replaceAll(/<(script|style)\b[^>]*>[^]*?<\/\1>/g, '').replaceAll(/data:[\w/+;=,-]+/g, '');
}

interface Walk {
  /** Paths of all pages. */
  readonly paths: readonly string[];
  /** Where pages name the example catalogue. */
  readonly named: readonly string[];
  /** Paths of the pages that name the own product. */
  readonly ownNamed: readonly string[];
}

/** Opens every page of a dashboard that links lead to. @param own title of the own product */
export async function walkPages(
  page: Page,
  { dashboard, starts, own }: { dashboard: string; starts: readonly string[]; own: string },
): Promise<Walk> {
  const waiting = [...starts];
  const paths = new Set(starts);
  const named: string[] = [];
  const ownNamed: string[] = [];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    await page.goto(dashboard + path);
    await settle(page);
    // Some parts of a page ask for more once it is shown.
    await page.waitForLoadState('networkidle');
    const text = await textOf(page);
    named.push(...namesIn(path, text));
    if (text.includes(own)) ownNamed.push(path);
    const links = await page.locator('a[href]').evaluateAll((all) => all.map((link) => (link as unknown as { href: string }).href));
    for (const { origin, pathname } of links.map((href) => new URL(href))) {
      if (origin !== dashboard || /\.(json|txt|xml|csv)$|^\/api\//.test(pathname) || paths.has(pathname)) continue;
      paths.add(pathname);
      waiting.push(pathname);
    }
    if (paths.size > MAX_PAGES) throw new Error(`too many pages: ${[...paths].join(' ')}`);
  }
  return { paths: [...paths], named, ownNamed };
}
