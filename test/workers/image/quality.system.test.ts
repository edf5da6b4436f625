import { rm } from 'node:fs/promises';
import sharp from 'sharp';
import { type Engine } from '../../../services/workers/image/engine';
import { createLocalEngine } from '../../../services/workers/image/local/local-engine';
import { openPicture } from '../../../services/workers/image/picture';
import { firstOf, runsEveryScene } from '../../support/scenes';
import { compileThread } from './compile-thread';
import { compare, render } from './composites/render';
import { SCENES } from './composites/scenes';
import { GOOD_IOU, iouOf, photographNames, readPhotograph } from './photographs';

const CALL = { mode: 'live' as const, subscriptionId: 'one', signal: new AbortController().signal };

let threadFile: string;
let engine: Engine;
beforeAll(async () => {
  threadFile = await compileThread('quality');
  engine = createLocalEngine({ threadFile, method: { kind: 'grabcut' }, threads: 1, queue: 0 });
});
afterAll(async () => {
  await engine?.close();
  await rm(threadFile);
});

/** One of each difficulty whose alpha is known to a shade; the bench cuts out all scenes. */
const DIFFICULTIES = ['ring with a hole, clouds', 'soft edge over 14 px', 'walker, sky and grass', 'white product on white'];
it.each(firstOf(DIFFICULTIES))(
  'cuts out "%s" with IoU at least 0.9, off by at most 0.03 of alpha, and keeps no colour of the background',
  async (name) => {
    const scene = SCENES.find((each) => each.name === name);
    if (!scene) throw new Error(`there is no scene ${name}`);
    const composite = render(scene);
    const { rgb, width, height } = composite;
    const picture = sharp(rgb, { raw: { width, height, channels: 3 } }).png({ compressionLevel: 1 });
    const { png } = await engine.cutOut(await openPicture(await picture.toBuffer()), { ...CALL, acceptUncertain: true });
    const rgba = await sharp(png).raw().toBuffer();
    const { iou, mae } = compare(rgba, composite);
    expect(iou).toBeGreaterThanOrEqual(0.9);
    expect(mae).toBeLessThanOrEqual(0.03);
    let coloured = 0;
    for (let at = 0; at < rgba.length; at += 4) if (rgba[at + 3] === 0 && rgba.readUIntBE(at, 3) !== 0) coloured++;
    expect(coloured).toBe(0);
  },
);

it.each(
  firstOf([
    ['disc', '#d02020', '#ffffff', '<circle cx="300" cy="300" r="180"/>'],
    ['bottle', '#7030a0', '#fafafa', '<path d="M270 90h60v110q70 40 70 120v200h-200v-200q0-80 70-120z"/>'],
    ['star', '#e0a000', '#ffffff', '<path d="M300 90l60 150 160 10-125 100 45 160-140-90-140 90 45-160-125-100 160-10z"/>'],
  ] as const),
)('cuts a flat drawing of a %s out of a plain ground', async (_what, colour, ground, shape) => {
  const draw = (front: string, back: string): sharp.Sharp =>
    sharp(
      Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"><rect width="600" height="600" fill="${back}"/><g fill="${front}">${shape}</g></svg>`,
      ),
    );
  const picture = await openPicture(await draw(colour, ground).jpeg({ quality: 90 }).toBuffer());
  const { png } = await engine.cutOut(picture, CALL);
  const mask = await draw('#fff', '#000').threshold(128).extractChannel(0).raw().toBuffer();
  expect(await iouOf(png, { mask })).toBeGreaterThanOrEqual(0.95);
});

/** Photographs whose cut-out is a success and the subject. No other one is a success. */
const RIGHT = [
  'animal-cat-lying', 'animal-chameleon', 'animal-dog', 'animal-fish', 'animal-parrot', 'animal-tiger', 'person-astronaut',
  'person-officer', 'person-photographer', 'plant-sunflower', 'product-ball', 'product-balloon', 'product-bulb', 'product-coffee',
  'product-gamepad',
]; // prettier-ignore

/** What `npm test` cuts out: two successes and a refusal of each kind. The tests of the engine cut out a person. */
const ONE_OF_A_KIND = ['animal-cat-face', 'clutter-sushi', 'empty-dunes', 'plant-sunflower', 'product-bulb'];

describe('of photographs whose subject is known', () => {
  const names = runsEveryScene ? photographNames() : ONE_OF_A_KIND;
  /** By name: of a success, how far it is the subject; undefined for 502 cutout_uncertain. */
  const outcomes = new Map<string, number | undefined>();

  beforeAll(async () => {
    for (const name of names) {
      const photograph = await readPhotograph(name);
      const found = await engine.cutOut(await openPicture(photograph.jpeg), CALL).catch((error: unknown) => {
        expect(error).toMatchObject({ options: { code: 'cutout_uncertain' } });
        return undefined;
      });
      outcomes.set(name, found && (await iouOf(found.png, photograph)));
    }
  }, 600_000);

  it('it calls a success what is one, and so keeps the published precision', () => {
    const wrong = names.filter((name) => (outcomes.get(name) ?? 1) < GOOD_IOU);
    expect(wrong).toEqual([]);
  });

  it('it keeps the published coverage', () => {
    const successes = names.filter((name) => outcomes.get(name) !== undefined);
    expect(successes).toEqual(expect.arrayContaining(RIGHT.filter((name) => names.includes(name))));
  });

  it('it says uncertain to scenes without an object, and to a face that fills the picture', () => {
    const without = names.filter((name) => name.startsWith('empty-') || name === 'animal-cat-face');
    expect(without.filter((name) => outcomes.get(name) !== undefined)).toEqual([]);
  });
});
