import { readFileSync } from 'node:fs';
import { type Page } from 'playwright-core';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface AxeFinding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe finds, each as one line. Run past the page's policy, which forbids the script. */
export async function inaccessible(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const findings: AxeFinding[] = await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then((found) => found.violations)',
  );
  return findings.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
