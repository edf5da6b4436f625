/**
 * The default engine's precision on the photographs and what they cost, and its agreement with random scenes that nothing was tuned on.
 * Run: node cli/build.mjs && node dist/bench/image.js
 * IMAGE_PHOTOGRAPHS names another folder of NAME.jpg, each with its NAME.mask.png if it has a subject.
 */
import { join } from 'node:path';
import sharp from 'sharp';
import { createLocalEngine } from '../services/workers/image/local/local-engine';
import { openPicture } from '../services/workers/image/picture';
import { CERTAIN_FROM } from '../services/workers/image/limits';
import { hash } from '../test/workers/image/composites/noise';
import { compare, type Composite, render } from '../test/workers/image/composites/render';
import { type Paint, type Scene, SCENES } from '../test/workers/image/composites/scenes';
import { GOOD_IOU, iouOf, photographNames, readPhotograph } from '../test/workers/image/photographs';

const UNSEEN = 60;
/** Beside the sources: what is compiled carries no pictures. */
const PHOTOGRAPHS = process.env['IMAGE_PHOTOGRAPHS'] ?? join(__dirname, '../../test/fixtures/photographs');
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

/** The outline of one scene, the backdrop of another and a foreground of a third, moved a little: chosen by the number alone. */
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
      // Nothing found is as wrong as can be.
      results.push({ iou: 0, mae: mean([...composite.alpha]), confidence: 0 });
    }
    const { iou, mae, confidence } = results.at(-1) ?? { iou: 0, mae: 1, confidence: 0 };
    console.log(`${composite.name.padEnd(72)} IoU ${iou.toFixed(3)}  MAE ${mae.toFixed(4)}  confidence ${confidence.toFixed(2)}`);
  }
  const [ious, maes] = [results.map(({ iou }) => iou), results.map(({ mae }) => mae)];
  console.log(`mean of ${UNSEEN} unseen: IoU ${mean(ious).toFixed(3)} (median ${middle(ious).toFixed(3)})  MAE ${mean(maes).toFixed(4)}`);
}

async function measurePhotographs(): Promise<void> {
  const results: { iou: number; confidence: number }[] = [];
  const cpu = process.cpuUsage();
  let subjects = 0;
  for (const name of photographNames(PHOTOGRAPHS)) {
    const photograph = await readPhotograph(name, PHOTOGRAPHS);
    if (photograph.mask) subjects++;
    const found = await engine.cutOut(await openPicture(photograph.jpeg), CALL).catch(() => undefined);
    const [engineName, confidence] = [found?.engine ?? 'none', found?.confidence ?? 0];
    const result = { iou: found ? await iouOf(found.png, photograph) : 0, confidence };
    results.push(result);
    console.log(`${name.padEnd(24)} IoU ${result.iou.toFixed(3)}  confidence ${confidence.toFixed(2)}  ${engineName}`);
  }
  const { user, system } = process.cpuUsage(cpu);
  const good = (some: typeof results): number => some.filter(({ iou }) => iou >= GOOD_IOU).length;
  const certain = results.filter(({ confidence }) => confidence >= CERTAIN_FROM);
  console.log(
    `${results.length} photographs, ${subjects} with a subject: ${good(results)} good (IoU ${GOOD_IOU}), ${certain.length} certain`,
  );
  console.log(`precision ${good(certain)} of ${certain.length}, coverage ${good(certain)} of ${subjects}`);
  console.log(`processor ${((user + system) / 1000 / results.length).toFixed(0)} ms a photograph`);
}

async function main(): Promise<void> {
  await measurePhotographs();
  await measureQuality();
  await engine.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
