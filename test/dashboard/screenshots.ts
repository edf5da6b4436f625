// Writes a picture of every page, light, dark and as a phone shows it, to .test/screenshots. `node dist/test/dashboard/screenshots.js [name …]`
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beginTestRun, endTestRun } from '../support/test-run';
import { overflow, type WatchedPage } from './support/browser';
import { EVERY_PAGE } from './support/every-page';
import { type Scene } from './support/scene';
import { SceneStage } from './support/scene-stage';
import { SCENES } from './support/scenes';

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
  }
  return [...found, ...complaints.map((each) => `${name}: ${each}`)];
}

async function main(wanted: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  await beginTestRun();
  const complaints: string[] = [];
  try {
    const stage = await SceneStage.start(WIDE);
    for (const scene of [...EVERY_PAGE, ...SCENES].filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
      const failed = (error: unknown): string[] => [`${scene.name}: ${error instanceof Error ? error.message : String(error)}`];
      complaints.push(...(await stage.play(scene, (watched) => take(watched, scene)).catch(failed)));
    }
    await stage.close();
  } finally {
    await endTestRun();
  }
  for (const complaint of complaints) console.error(complaint);
  console.log(`pictures of every page are in ${FOLDER}`);
  process.exitCode = complaints.length === 0 ? 0 : 1;
}

void main(process.argv.slice(2));
