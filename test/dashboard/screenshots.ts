// Writes a picture of every page, light, dark and as a phone shows it, to .test/screenshots. `node dist/test/dashboard/screenshots.js [name …]`
// With `--docs`, writes the pictures of the documents to docs/pictures instead.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { beginTestRun, endTestRun } from '../support/system/test-run';
import { brokenWords, cutTables, overflow, startBrowser, type WatchedPage } from './support/browser';
import { EVERY_PAGE } from './support/every-page';
import { startPageDashboard } from './support/page-dashboard';
import { type Scene } from './support/scene-stage';
import { SceneStage } from './support/scene-stage';
import { SCENES } from './support/scenes';

/** A picture that a document shows. */
interface DocsPicture {
  /** In docs/pictures, without `.png`. */
  readonly file: string;
  readonly scene: Scene;
  readonly look: 'light' | 'dark' | 'phone';
  /** Of the screen, where not that of its look. */
  readonly height?: number;
}

function picture(file: string, name: string, options: Partial<Omit<DocsPicture, 'file' | 'scene'>> = {}): DocsPicture {
  const scene = [...EVERY_PAGE, ...SCENES].find((each) => each.name === name);
  if (!scene) throw new Error(`there is no scene ${name}`);
  return { file, scene, look: 'light', ...options };
}

/** Taken by `npm run screenshots -- --docs`. */
const DOCS_PICTURES: readonly DocsPicture[] = [
  picture('home', 'home', { height: 830 }),
  picture('product', 'product', { height: 830 }),
  picture('pricing', 'pricing'),
  picture('reference', 'reference-answered', { height: 1_000 }),
  picture('overview', 'overview'),
  picture('plan-choice', 'plan-choice'),
  picture('key', 'simulated-caller', { height: 1_000 }),
  picture('usage', 'usage', { look: 'dark', height: 1_000 }),
  picture('explain', 'explain'),
  picture('seller-home', 'seller-home', { height: 1_000 }),
  picture('seller-customer', 'seller-customer', { height: 1_000 }),
  picture('seller-requests', 'seller-requests'),
];

const FOLDER = join(process.cwd(), '.test', 'screenshots');
const WIDE = { width: 1280, height: 800 };

const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: WIDE },
  { name: 'dark', colorScheme: 'dark', viewport: WIDE },
  { name: 'phone', colorScheme: 'light', viewport: { width: 360, height: 740 } },
] as const;
/** Charts are drawn again some moments after the screen has another width. */
const REDRAW_MS = 500;

/** What is wrong with the page in one of its looks, as lines. */
async function take({ page, complaints }: WatchedPage, { name, viewport: only }: Scene): Promise<string[]> {
  const found: string[] = [];
  for (const look of LOOKS) {
    await page.emulateMedia({ colorScheme: look.colorScheme });
    await page.setViewportSize(only ?? look.viewport);
    await page.waitForTimeout(REDRAW_MS);
    await page.screenshot({ path: join(FOLDER, `${name}.${look.name}.png`), fullPage: true });
    const wider = await overflow(page);
    if (wider > 0) found.push(`${name} ${look.name}: ${wider} px wider than the screen`);
    found.push(...[...(await brokenWords(page)), ...(await cutTables(page))].map((each) => `${name} ${look.name}: ${each}`));
  }
  return [...found, ...complaints.map((each) => `${name}: ${each}`)];
}

/** The pictures of the documents, each as large as a screen shows it. */
async function illustrate(stage: SceneStage): Promise<void> {
  const folder = join(process.cwd(), 'docs', 'pictures');
  mkdirSync(folder, { recursive: true });
  for (const { file, scene, look, height } of DOCS_PICTURES) {
    const { colorScheme, viewport } = LOOKS.find(({ name }) => name === look) ?? LOOKS[0];
    await stage.play(scene, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ ...viewport, height: height ?? viewport.height });
      await page.waitForTimeout(REDRAW_MS);
      const taken = sharp(await page.screenshot());
      await taken.png({ palette: true, colours: 256, effort: 10 }).toFile(join(folder, `${file}.png`));
    });
  }
}

/** Tells each complaint as it comes. */
async function takeAll(stage: SceneStage, wanted: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const scene of [...EVERY_PAGE, ...SCENES].filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const failed = (error: unknown): string[] => [`${scene.name}: ${error instanceof Error ? error.message : String(error)}`];
    for (const complaint of await stage.play(scene, (watched) => take(watched, scene)).catch(failed)) {
      console.error(complaint);
      process.exitCode = 1;
    }
  }
  console.log(`pictures of every page are in ${FOLDER}`);
}

async function main(wanted: readonly string[]): Promise<void> {
  await beginTestRun();
  try {
    const [dashboard, browser] = await Promise.all([startPageDashboard({ shownGatewayUrl: 'http://127.0.0.1:8000' }), startBrowser()]);
    const stage = await SceneStage.on({ dashboard, browser }, WIDE);
    await (wanted[0] === '--docs' ? illustrate(stage) : takeAll(stage, wanted));
    await browser.close();
    await dashboard.close();
  } finally {
    await endTestRun();
  }
}

void main(process.argv.slice(2));
