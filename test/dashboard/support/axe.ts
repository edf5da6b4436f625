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

interface AxeFinding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds, each as one line. Run past the page's policy, which forbids the script. @param rules all of them unless given */
export async function inaccessible(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const findings: AxeFinding[] = await page.evaluate(`axe.run(document, ${options}).then((found) => found.violations)`);
  return findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

/** What axe finds in light, and what only colours decide in dark, without another load. */
export async function inaccessibleInBoth(page: Page): Promise<string[]> {
  // Or colours are read on their way from one scheme to the other.
  await page.evaluate(STILL);
  await showScheme(page, 'light');
  const light = await inaccessible(page);
  await showScheme(page, 'dark');
  const dark = await inaccessible(page, ['color-contrast']);
  return [...light.map((each) => `light: ${each}`), ...dark.map((each) => `dark: ${each}`)];
}

/** The application follows the system's scheme a moment later. */
async function showScheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  const isShown = `["${colorScheme}", undefined].includes(document.documentElement.dataset.mantineColorScheme)`;
  await eventually(() => page.evaluate<boolean>(isShown));
}
