import { openPage } from '../support/browser';
import { PageStage, signInAs } from '../support/page-stage';

const MAX_MS = 1_000;
const TIMES = 5;
const PAINTED = `new Promise((resolve) => new PerformanceObserver((list) => {
  for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
}).observe({ type: 'paint', buffered: true }))`;

const stage = PageStage.forFile();

/** Milliseconds from the click to the first text or picture, in a browser that has nothing of the page. */
async function paintedAfterMs(cookie: string | undefined): Promise<number> {
  const { page } = await openPage(stage.browser, { viewport: { width: 1280, height: 800 } });
  if (cookie !== undefined) await signInAs(page, { url: stage.url, cookie });
  await page.goto(stage.url);
  const ms = await page.evaluate<number>(PAINTED);
  await page.context().close();
  return ms;
}

it.each(['usual', 'nobody'] as const)('the first page shows something within a second: for %s, the median of five', async (as) => {
  await stage.begin({ as });
  const cookie = as === 'nobody' ? undefined : stage.account.cookie;
  const measured: number[] = [];
  for (let time = 0; time < TIMES; time++) measured.push(await paintedAfterMs(cookie));
  const [median = Infinity] = measured.sort((a, b) => a - b).slice(Math.floor(TIMES / 2));
  console.log(`first contentful paint for ${as}: ${measured.map(Math.round).join(', ')} ms`);
  expect(median).toBeLessThan(MAX_MS);
});
