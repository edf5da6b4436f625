import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { ensurePackages } from '../../support/debian-packages';
import { eventually } from '../../support/eventually';

/** Needs about half the CPU time of the whole browser for the same pages. */
const USUAL = '/usr/bin/chromium-headless-shell';
const PLACES = [USUAL, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Debian's headless Chromium, installed when no browser is there; CHROMIUM_PATH names another. */
async function findChromium(): Promise<string> {
  const found = process.env['CHROMIUM_PATH'] ?? PLACES.find((each) => existsSync(each));
  if (found !== undefined) return found;
  await ensurePackages([USUAL], 'The tests of pages');
  return USUAL;
}

/** Asks nobody for anything: what the pages load is all that it loads. */
const FLAGS = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-default-apps',
];

/** For what a page shall show: decides only how late a failure is told. */
const WAIT_MS = 60_000;

/** Starts Chromium; whoever calls this closes it. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium(), args: FLAGS, timeout: WAIT_MS });
}

export interface WatchedPage {
  readonly page: Page;
  /** Errors in the console, uncaught exceptions and violations of the content security policy, as they come. */
  readonly complaints: string[];
}

/** Notes what goes wrong in a page. Failed requests that the test provokes are not complaints; the browser's own errors are. */
export function watch(page: Page): WatchedPage {
  page.setDefaultTimeout(WAIT_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && !/content security policy/i.test(message.text())) return;
    if (message.text().startsWith('Failed to load resource')) return;
    complaints.push(`${message.type()}: ${message.text()}`);
  });
  return { page, complaints };
}

/** A page in a profile of its own. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  return watch(await context.newPage());
}

/** How many pixels a page is wider than the screen: it has to be scrolled sideways when there are any. */
export const overflow = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

/** Panels and notices that touch what stands above them, by their text. */
export const crowded = (page: Page): Promise<string[]> => page.evaluate(FIND_CROWDED);

/** In the browser. What is side by side does not count. */
const FIND_CROWDED = `[...document.querySelectorAll('.content-width :is(.panel, .mantine-Alert-root)')].flatMap((part) => {
  const before = part.previousElementSibling;
  if (!before || before.matches('.visually-hidden')) return [];
  const [above, own] = [before.getBoundingClientRect(), part.getBoundingClientRect()];
  const isBelow = above.height > 0 && own.height > 0 && own.top > above.top && own.left < above.right;
  return isBelow && own.top - above.bottom < 6 ? [part.textContent.slice(0, 40)] : [];
})`;

/** Tables of which a part is out of sight until somebody scrolls sideways, by their names. */
export const cutTables = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('.content-width table, main table')]
    .filter(({ parentElement: frame }) => frame.scrollWidth > frame.clientWidth + 1)
    .map((table) => 'does not fit its frame: ' + (table.ariaLabel ?? table.caption?.textContent ?? table.className))`);

/** Words of 20 letters at most that stand in two lines. Codes and links may: nobody reads them as words. */
export const brokenWords = (page: Page): Promise<string[]> => page.evaluate(FIND_BROKEN);

/** In the browser. A word ends where the text may break: behind a sign, or at a `wbr`, which begins another text. */
const FIND_BROKEN = `(() => {
  const isRead = (text) => {
    const holder = text.parentElement;
    return holder && !holder.closest('code, pre, .mono, script, style, svg, .visually-hidden') && holder.getClientRects().length > 0;
  };
  const linesOf = (text, from, to) => {
    const range = document.createRange();
    range.setStart(text, from);
    range.setEnd(text, to);
    return new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!isRead(text) || linesOf(text, 0, text.data.length) < 2) continue;
    for (const { 0: token, index } of text.data.matchAll(/\\S+/g)) {
      if (token.length > 60 || token.includes('://')) continue;
      for (const { 0: word, index: at } of token.matchAll(/(?<![^-.@_/(“‘:])\\p{L}{2,20}(?![^-.@_/),;:!?”’])/gu)) {
        const from = index + at;
        if (linesOf(text, from, from + word.length) > 1) found.add('breaks within ' + word + ': ' + text.data.trim().slice(0, 60));
      }
    }
  }
  return [...found];
})()`;

/** Charts are drawn again some moments after the screen has another width. */
const REDRAW_MS = 10_000;

/** How a page shows itself on a narrow screen, without another load: what is wider than it, and words that do not fit their line. */
export async function narrowFaults(page: Page, viewport: { width: number; height: number }): Promise<string[]> {
  const usual = page.viewportSize();
  await page.setViewportSize(viewport);
  await eventually(async () => (await overflow(page)) <= 0, REDRAW_MS).catch(() => undefined);
  const wider = await overflow(page);
  const found = [...(wider > 0 ? [`${wider} px wider than a phone`] : []), ...(await brokenWords(page))];
  if (usual) await page.setViewportSize(usual);
  return found;
}

const BUSY = '[aria-busy=true], [role=status][aria-label=Loading]';

/** Until nothing that is shown is still on its way. @throws an error that names what did not come and says what the page shows */
export async function settle(page: Page): Promise<void> {
  await waitOn(page, 'has no heading', page.locator('h1').first().waitFor());
  await waitOn(page, 'still loads a part', page.locator(BUSY).first().waitFor({ state: 'detached' }));
}

async function waitOn(page: Page, fault: string, waiting: Promise<void>): Promise<void> {
  try {
    await waiting;
  } catch (error) {
    const shown = await page
      .locator('body')
      .innerText({ timeout: 5_000 })
      .catch(() => 'nothing that can be read');
    throw new Error(`${page.url()} ${fault}. It shows: ${shown.slice(0, 600)}`, { cause: error });
  }
}

/** Brings every part of the page into sight once: some are loaded only then. */
export async function seeAll(page: Page): Promise<void> {
  await page.evaluate(SCROLL_THROUGH);
  await settle(page);
}

/** In the browser. Two frames: what is in sight is told in the second. */
const SCROLL_THROUGH = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
    scrollTo(0, top);
    await frame();
    await frame();
  }
  scrollTo(0, 0);
})()`;
