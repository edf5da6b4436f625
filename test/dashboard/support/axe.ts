import { readFileSync } from 'node:fs';
import { type Page } from 'playwright-core';
import { eventually } from '../../support/eventually';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** As a sheet of the document's own: the policy of the pages takes no style that is written into them. */
const STILL = `(() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*, ::before, ::after { transition: none !important }');
  document.adoptedStyleSheets.push(sheet);
})()`;

/**
 * One element of each look: colour and font of a text, and all that it lies on. axe takes two thirds of its time for contrast, and a table
 * repeats a look a thousand times.
 */
const LOOKS = `(() => {
  const grounds = new Map([[null, '']]);
  const groundOf = (element) => {
    if (!grounds.has(element)) {
      const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
      grounds.set(element, [groundOf(element.parentElement), backgroundColor, backgroundImage, opacity, position].join());
    }
    return grounds.get(element);
  };
  const looks = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    const { color, fontSize, fontWeight, textShadow, visibility } = getComputedStyle(element);
    // What is disabled may be faint; what only screen readers read is one pixel wide.
    const isDisabled = element.closest(':disabled, [aria-disabled="true"], [data-disabled]') !== null;
    const look = [groundOf(element), color, fontSize, fontWeight, textShadow, isDisabled].join();
    const isShown = visibility === 'visible' && element.getBoundingClientRect().width > 1;
    if (isShown && texts.currentNode.data.trim() && !looks.has(look)) looks.set(look, element);
  }
  return [...looks.values()];
})()`;

interface AxeFinding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

const CONTRAST = 'color-contrast';

/** @param rules of axe's options @param context JavaScript that says where to look */
async function violations(page: Page, rules: object, context = 'document'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
  const findings: AxeFinding[] = await page.evaluate(`axe.run(${context}, ${options}).then((found) => found.violations)`);
  return findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

const withoutContrast = (page: Page): Promise<string[]> => violations(page, { rules: { [CONTRAST]: { enabled: false } } });

async function faintTexts(page: Page): Promise<string[]> {
  const looks = `((include) => (include.length > 0 ? { include } : document.body))(${LOOKS})`;
  return violations(page, { runOnly: [CONTRAST] }, looks);
}

/** What axe finds, each as one line. Run past the page's policy, which forbids the script. */
export async function inaccessible(page: Page): Promise<string[]> {
  return [...(await withoutContrast(page)), ...(await faintTexts(page))];
}

/** What axe finds in light, and what only colours decide in dark, without another load. */
export async function inaccessibleInBoth(page: Page): Promise<string[]> {
  // Or colours are read on their way from one scheme to the other.
  await page.evaluate(STILL);
  await showScheme(page, 'light');
  const light = await inaccessible(page);
  await showScheme(page, 'dark');
  const dark = await faintTexts(page);
  return [...light.map((each) => `light: ${each}`), ...dark.map((each) => `dark: ${each}`)];
}

/** The application follows the system's scheme a moment later. */
async function showScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  const isShown = `["${colorScheme}", undefined].includes(document.documentElement.dataset.mantineColorScheme)`;
  await eventually(() => page.evaluate<boolean>(isShown));
}
