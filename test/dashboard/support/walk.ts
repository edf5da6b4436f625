import { type Page } from 'playwright-core';

/** Roles that mean nothing to who hears them without a name. */
const NAMED =
  'link|button|textbox|searchbox|combobox|checkbox|radio|switch|slider|spinbutton|tab|menuitem|dialog|alertdialog|table|heading|navigation|region|figure|img|progressbar|meter';
const UNNAMED = new RegExp(`^\\s*- (${NAMED})(?! ")(?=[ :]|$)`);

/** What of a page's accessibility tree has no name, and landmarks that are not there once. */
export async function unnamedParts(page: Page): Promise<string[]> {
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
export async function unreachedByTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(MARK);
  // A part that catches the focus ends the walk, and what follows it is told as not reached.
  for (let press = 0; press < 2 * count + 10; press++) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate<boolean>(NOTE))) break;
  }
  return page.evaluate<string[]>(REPORT);
}
