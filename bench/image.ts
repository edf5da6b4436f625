/**
 * The default engine's precision and coverage on photographs and what they cost, and its agreement with random scenes that nothing was tuned
 * on. Bounds were chosen on one half of the photographs and judged on the other.
 * Run: node cli/build.mjs && node dist/bench/image.js [chosen | judged | scenes] [SHEET.jpg]
 * SHEET.jpg gets every success, right or wrong, beside its photograph. For `chosen` it leaves out those of packages, whose licences differ.
 * IMAGE_PACKAGES names a folder with the packages of bench/support/photographs.json, each unpacked in a folder of its name by
 * `tar -xzf … --strip-components=1` or `dpkg-deb -x`. Without it there are only the photographs in test/fixtures.
 * IMAGE_PHOTOGRAPHS names another folder instead of those, with NAME.jpg, each with its NAME.mask.png if it has a subject.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { createLocalEngine } from '../services/workers/image/local/local-engine';
import { openPicture } from '../services/workers/image/picture';
import { CERTAIN_FROM } from '../services/workers/image/limits';
import { hash } from '../test/workers/image/composites/scenes';
import { compare, type Composite, render } from '../test/workers/image/composites/render';
import { type Paint, type Scene, SCENES } from '../test/workers/image/composites/scenes';
import { GOOD_IOU, iouOf, type Photograph, photographNames, readPhotograph } from '../test/workers/image/photographs';
import { drawSheet, type Shown } from './support/cut-out-sheet';
import { halfOf, packagePhotographNames, readPackagePhotograph } from './support/package-photographs';

const UNSEEN = 60;
/** Read from the sources, because compiled code comes without pictures. */
const PHOTOGRAPHS = process.env['IMAGE_PHOTOGRAPHS'] ?? join(__dirname, '../../test/fixtures/photographs');
const PACKAGES = process.env['IMAGE_PACKAGES'];
const CALL = { mode: 'live' as const, subscriptionId: 'one', signal: new AbortController().signal, acceptUncertain: true };

const engine = createLocalEngine({
  threadFile: join(__dirname, '../services/workers/image/local/cut-out-thread.js'),
  method: { kind: 'grabcut' },
  threads: 1,
  queue: 0,
});

function encode({ rgb, width, height }: Composite): Promise<Buffer> {
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 92 })
    .toBuffer();
}

const middle = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The outline of one scene, the backdrop of another and a foreground of a third, slightly moved. The number alone determines the choice.
 */
function unseen(number: number): Scene {
  const pick = (what: number): Scene => {
    const scene = SCENES[Math.floor(hash(number, what, 900) * SCENES.length)];
    if (!scene) throw new Error('there are no scenes');
    return scene;
  };
  const [outline, backdrop, surface] = [pick(1), pick(2), pick(3)];
  const [dx, dy] = [(hash(number, 4, 900) - 0.5) * 60, (hash(number, 5, 900) - 0.5) * 40];
  const tint: Paint = (x, y) => {
    const [red, green, blue] = surface.foreground(x, y);
    return hash(number, 6, 900) < 0.5 ? [green, blue, red] : [blue, red, green];
  };
  return {
    ...outline,
    name: `${outline.name} / ${backdrop.name}`,
    shape: (x, y) => outline.shape(x - dx, y - dy),
    foreground: tint,
    background: backdrop.background,
    grain: 2 + 6 * hash(number, 7, 900),
  };
}

async function measureQuality(): Promise<void> {
  const results: { iou: number; mae: number; confidence: number }[] = [];
  for (let number = 0; number < UNSEEN; number++) {
    const composite = render(unseen(number));
    const picture = await openPicture(await encode(composite));
    try {
      const { png, confidence } = await engine.cutOut(picture, CALL);
      results.push({ ...compare(await sharp(png).raw().toBuffer(), composite), confidence: confidence ?? 0 });
    } catch {
      // Without a cut-out, the result counts as entirely wrong.
      results.push({ iou: 0, mae: mean([...composite.alpha]), confidence: 0 });
    }
    const { iou, mae, confidence } = results.at(-1) ?? { iou: 0, mae: 1, confidence: 0 };
    console.log(`${composite.name.padEnd(72)} IoU ${iou.toFixed(3)}  MAE ${mae.toFixed(4)}  confidence ${confidence.toFixed(2)}`);
  }
  const [ious, maes] = [results.map(({ iou }) => iou), results.map(({ mae }) => mae)];
  console.log(`mean of ${UNSEEN} unseen: IoU ${mean(ious).toFixed(3)} (median ${middle(ious).toFixed(3)})  MAE ${mean(maes).toFixed(4)}`);
}

type Half = 'chosen' | 'judged';
interface Outcome {
  readonly photograph: Photograph;
  readonly iou: number;
  readonly confidence: number;
  readonly cutOut: Buffer | undefined;
}

async function* photographsOf(half: Half): AsyncGenerator<Photograph> {
  if (half === 'chosen') for (const name of photographNames(PHOTOGRAPHS)) yield await readPhotograph(name, PHOTOGRAPHS);
  if (PACKAGES === undefined) return;
  for (const name of packagePhotographNames()) if (halfOf(name) === half) yield await readPackagePhotograph(name, PACKAGES);
}

async function cutOut(photograph: Photograph): Promise<Outcome> {
  const found = await engine.cutOut(await openPicture(photograph.jpeg), CALL).catch(() => undefined);
  const [iou, confidence] = [found ? await iouOf(found.png, photograph) : 0, found?.confidence ?? 0];
  const engineName = (found?.engine ?? 'none').padEnd(20);
  console.log(`${photograph.name.padEnd(24)} IoU ${iou.toFixed(3)}  confidence ${confidence.toFixed(2)}  ${engineName}`);
  return { photograph, iou, confidence, cutOut: found?.png };
}

const isCertain = ({ confidence }: Outcome): boolean => confidence >= CERTAIN_FROM;

function report(what: string, all: readonly Outcome[]): void {
  const certain = all.filter(isCertain);
  const right = certain.filter(({ iou }) => iou >= GOOD_IOU).length;
  const subjects = all.filter(({ photograph }) => photograph.mask).length;
  console.log(`${what}: ${all.length} photographs, ${subjects} with a subject; ${certain.length} successes, ${right} of them right`);
}

async function writeSheet(file: string, half: Half, outcomes: readonly Outcome[]): Promise<void> {
  const own = new Set(photographNames(PHOTOGRAPHS));
  const shown: Shown[] = [];
  for (const outcome of outcomes) {
    const { photograph, cutOut: png } = outcome;
    if (png && isCertain(outcome) && (half === 'judged' || own.has(photograph.name)))
      shown.push({ photograph: photograph.jpeg, cutOut: png });
  }
  await writeFile(file, await drawSheet(shown));
}

async function measurePhotographs(half: Half, sheet: string | undefined): Promise<void> {
  const outcomes: Outcome[] = [];
  const cpu = process.cpuUsage();
  for await (const photograph of photographsOf(half)) outcomes.push(await cutOut(photograph));
  if (outcomes.length === 0) return;
  const { user, system } = process.cpuUsage(cpu);
  report(half, outcomes);
  report(
    `${half}, people`,
    outcomes.filter(({ photograph }) => photograph.name.startsWith('person-')),
  );
  const memory = process.resourceUsage().maxRSS / 1024;
  console.log(`processor ${((user + system) / 1000 / outcomes.length).toFixed(0)} ms a photograph; memory ${memory.toFixed(0)} MB at most`);
  if (sheet !== undefined) await writeSheet(sheet, half, outcomes);
}

async function measure(what: string | undefined, sheet: string | undefined): Promise<void> {
  if (what === undefined || what === 'chosen') await measurePhotographs('chosen', sheet);
  if (what === undefined || what === 'judged') await measurePhotographs('judged', sheet);
  if (what === undefined || what === 'scenes') await measureQuality();
}

async function main(): Promise<void> {
  const [what, sheet] = process.argv.slice(2);
  await measure(what, sheet).finally(() => engine.close());
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
