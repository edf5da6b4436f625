// Writes a picture of every page, light, dark and as a phone shows it, to .test/screenshots. `node dist/test/dashboard/screenshots.js [name …]`
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type Page } from 'playwright-core';
import { openPage, settle, startBrowser } from './support/browser';
import { EVERY_PAGE, type PageCase } from './support/every-page';
import { startFakeApi, type FakeApi } from './support/fake-api';
import { FakeState } from './support/fake-state';
import { SCENES } from './support/scenes';

const FOLDER = join(process.cwd(), '.test', 'screenshots');

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: 'phone', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;
type Look = (typeof LOOKS)[number];

interface Shot {
  readonly browser: Browser;
  readonly look: Look;
  readonly name: string;
  readonly state: FakeState;
}

/** Wider than the screen: a page that has to be scrolled sideways. */
const overflow = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

async function take({ browser, look, name, state }: Shot, go: (page: Page, api: FakeApi) => Promise<void>): Promise<string[]> {
  const api = await startFakeApi(state);
  const { page, complaints } = await openPage(browser, { colorScheme: look.colorScheme, viewport: look.viewport });
  try {
    await go(page, api).catch((error: unknown) => complaints.push(error instanceof Error ? error.message : String(error)));
    await page.screenshot({ path: join(FOLDER, `${name}.${look.name}.png`), fullPage: true });
    const wider = await overflow(page);
    return [...complaints, ...(wider > 0 ? [`${wider} px wider than the screen`] : [])].map((each) => `${name} ${look.name}: ${each}`);
  } finally {
    await page.context().close();
    await api.close();
  }
}

function takePage(browser: Browser, look: Look, { name, path, isSignedOut = false, isEmpty = false }: PageCase): Promise<string[]> {
  const state = isEmpty ? FakeState.empty() : new FakeState();
  state.isSignedIn = !isSignedOut;
  return take({ browser, look, name, state }, async (page, api) => {
    await page.goto(api.url + path(state));
    await settle(page);
  });
}

async function takeAll(browser: Browser, look: Look, wanted: readonly string[]): Promise<string[]> {
  const isWanted = ({ name }: { name: string }): boolean => wanted.length === 0 || wanted.includes(name);
  const complaints: string[] = [];
  for (const each of EVERY_PAGE.filter(isWanted)) complaints.push(...(await takePage(browser, look, each)));
  for (const { name, state, play } of SCENES.filter(isWanted))
    complaints.push(...(await take({ browser, look, name, state: state() }, play)));
  return complaints;
}

async function main(wanted: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const browser = await startBrowser();
  const complaints: string[] = [];
  try {
    await Promise.all(LOOKS.map(async (look) => complaints.push(...(await takeAll(browser, look, wanted)))));
  } finally {
    await browser.close();
  }
  for (const complaint of complaints) console.error(complaint);
  console.log(`pictures of every page are in ${FOLDER}`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}

void main(process.argv.slice(2));
