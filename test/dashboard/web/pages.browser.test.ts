import { inTestAll } from '../../support/scenes';
import { inaccessibleInBoth } from '../support/axe';
import { brokenWords, crowded, cutTables, narrowFaults, type WatchedPage } from '../support/browser';
import { EVERY_PAGE } from '../support/every-page';
import { type Scene } from '../support/scene';
import { SceneStage } from '../support/scene-stage';
import { SCENES } from '../support/scenes';
import { type Page } from 'playwright-core';
import { openedForTests } from '../../support/opened';

/** Roles that mean nothing to who hears them without a name. */
const NAMED =
  'link|button|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|tab|menuitem|dialog|alertdialog|table|heading|navigation|region|figure|img|progressbar|meter';
const UNNAMED = new RegExp(`^\\s*- (${NAMED})(?! ")(?=[ :]|$)`);

/** What of a page's accessibility tree has no name, and landmarks that are not there once. */
async function unnamedParts(page: Page): Promise<string[]> {
  const lines = (await page.locator('body').ariaSnapshot()).split('\n');
  const unnamed = lines.flatMap((line, at) =>
    UNNAMED.test(line) ? [`without a name: ${line.trim()} after ${lines[at - 1]?.trim() ?? ''}`] : [],
  );
  const count = (what: RegExp): number => lines.filter((line) => what.test(line)).length;
  const mains = count(/^\s*- main/);
  const titles = count(/^\s*- heading .*\[level=1\]/);
  return [...unnamed, ...(mains === 1 ? [] : [`${mains} main parts`]), ...(titles === 1 ? [] : [`${titles} headings of level 1`])];
}

/** In the browser: what the Tab key should reach. Of radio buttons it reaches the chosen one. */
const MARK = `(() => {
  const usable = 'a[href], button, input, select, textarea, summary, [tabindex]';
  const isReached = (each) =>
    each.tabIndex >= 0 && !each.matches(':disabled') && !each.closest('[inert]') && each.getClientRects().length > 0 &&
    getComputedStyle(each).visibility === 'visible' &&
    !(each.type === 'radio' && !each.checked && document.querySelector('input[type=radio][name="' + CSS.escape(each.name) + '"]:checked'));
  window.walked = new Set();
  window.toWalk = [...document.querySelectorAll(usable)].filter(isReached);
  document.activeElement.blur();
  window.scrollTo(0, 0);
  return window.toWalk.length;
})()`;

/** In the browser, after a press: false once the walk is back where it began. */
const NOTE = `(() => {
  const now = document.activeElement;
  if (now === document.body || window.walked.has(now)) return false;
  window.walked.add(now);
  const { top, bottom, width } = now.getBoundingClientRect();
  if (width > 0 && (bottom <= 0 || top >= window.innerHeight)) now.dataset.outOfSight = 'true';
  return true;
})()`;

const REPORT = `[
  ...window.toWalk.filter((each) => !window.walked.has(each)).map((each) => 'the Tab key does not reach ' + each.outerHTML.slice(0, 160)),
  ...[...window.walked].filter((each) => each.dataset.outOfSight).map((each) => 'has the focus out of sight: ' + each.outerHTML.slice(0, 160)),
]`;

/** Presses Tab through a whole page. @returns what it does not reach, or reaches out of sight */
async function unreachedByTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(MARK);
  // A part that catches the focus ends the walk, and what follows it is told as not reached.
  for (let press = 0; press < 2 * count + 10; press++) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate<boolean>(NOTE))) break;
  }
  return page.evaluate<string[]>(REPORT);
}

const PHONE = { width: 360, height: 740 };

let stage: SceneStage;
const opened = openedForTests();
beforeAll(async () => {
  stage = await opened.keep(SceneStage.start(), (each) => each.close());
});

async function faultsOf({ page, complaints }: WatchedPage): Promise<string[]> {
  const found = await inaccessibleInBoth(page);
  const touching = (await crowded(page)).map((text) => `without space above: ${text}`);
  const wide = [...(await cutTables(page)), ...(await brokenWords(page))];
  return [...found, ...complaints, ...touching, ...wide, ...(await narrowFaults(page, PHONE))];
}

/** Those that people use most, and that the seller does. */
const MAIN = [
  ...['overview', 'keys', 'key', 'plans', 'usage', 'requests', 'explain', 'team'],
  ...['seller-home', 'seller-customers', 'seller-customer', 'seller-requests', 'seller-explain', 'seller-products', 'seller-billing'],
];
const isMain = ({ name }: Scene): boolean => MAIN.includes(name);

/**
 * One of each layout in `npm test`: an entrance, a page of the app with forms, tables and charts, a dialog. Public pages are looked at in
 * test/dashboard/storefront/public.browser.test.ts, pages of the seller in test/dashboard/seller/console.browser.test.ts.
 */
const ONE_OF_A_KIND = ['sign-in', 'key', 'created-key'];
const oneOfAKind = ({ name }: Scene): jest.It => (ONE_OF_A_KIND.includes(name) ? it : inTestAll);
const walked = async ({ page }: WatchedPage): Promise<string[]> => [...(await unnamedParts(page)), ...(await unreachedByTab(page))];

const SOUND =
  'has nothing that axe finds in either scheme, no error under its policy, space between its parts, and fits its tables, a phone and every word';

describe.each(EVERY_PAGE.filter((scene) => !isMain(scene)))('the page $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});

describe.each(EVERY_PAGE.filter(isMain))('the main page $name', (scene) => {
  oneOfAKind(scene)(`${SOUND}; is walked by the keyboard alone, and says name and role of its every part`, async () => {
    const both = async (watched: WatchedPage): Promise<string[]> => [...(await walked(watched)), ...(await faultsOf(watched))];
    expect(await stage.play(scene, both)).toEqual([]);
  });
});

describe.each(SCENES)('the scene $name', (scene) => {
  oneOfAKind(scene)(SOUND, async () => {
    expect(await stage.play(scene, faultsOf)).toEqual([]);
  });
});
