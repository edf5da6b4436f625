import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import sharp from 'sharp';
import { type KeyMode } from '../../../plugins/core/ports';
import { createLocalEngine } from '../../../services/workers/image/local/local-engine';
import { CutOutPool } from '../../../services/workers/image/local/cut-out-pool';
import { type CutOutJob } from '../../../services/workers/image/cut-out-job';
import { type CutOutCall } from '../../../services/workers/image/engine';
import { openPicture } from '../../../services/workers/image/picture';
import { eventually } from '../../support/eventually';
import { firstOf, runsEveryScene } from '../../support/scenes';
import { tinyOnnxModel } from '../../support/tiny-onnx-model';
import { GOOD_IOU, iouOf, photographNames, readPhotograph } from './photographs';
import { disc, plain } from './pictures';
import { compare, render } from './composites/render';
import { SCENES } from './composites/scenes';
import { useOpened } from '../../support/opened';
import { newFolder } from '../../support/run-folder';
import { compile } from '../../support/compile';

let threadFile: string;
beforeAll(async () => {
  threadFile = await compile('services/workers/image/local/cut-out-thread.ts', join(newFolder(), 'cut-out-thread.cjs'), {
    packages: 'external',
  });
});

describe('the local engine', () => {
  const never = new AbortController().signal;
  const caller = { mode: 'live' as const, subscriptionId: 'one' };

  describe('the GrabCut engine', () => {
    const engine = useOpened(() => createLocalEngine({ threadFile, method: { kind: 'grabcut' }, threads: 1, queue: 2 }));

    const cut = async (bytes: Buffer) => engine.cutOut(await openPicture(bytes), { ...caller, signal: never });
    const alphaAt = async (png: Buffer, x: number, y: number) => {
      const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
      return data[(y * info.width + x) * info.channels + 3];
    };

    const drawn = (width: number, height: number, shapes: string) =>
      sharp(Buffer.from(`<svg width="${width}" height="${height}">${shapes}</svg>`)).png();
    const onWhite = (shape: string): string => `<rect width="100%" height="100%" fill="#fff"/>${shape}`;
    const square = '<rect x="30" y="30" width="40" height="40" fill="#2040c0"/>';
    const faint = onWhite('<circle cx="48" cy="48" r="28" fill="#f4f4f4"/>');
    /** Stored turned, to be shown a quarter clockwise. */
    const lying = () => {
      const upright = drawn(120, 80, onWhite('<circle cx="30" cy="40" r="24" fill="#c82828"/>'));
      return upright.removeAlpha().rotate(-90).jpeg().withMetadata({ orientation: 6 }).toBuffer();
    };

    it.each<[string, () => Promise<Buffer>, [number, number], number]>([
      ['a disc of a PNG', () => disc('png'), [96, 96], 48],
      ['what stands upright once the image is turned', lying, [120, 80], 30],
      ['what is not transparent already', () => drawn(100, 100, square).toBuffer(), [100, 100], 50],
      ['a faint disc: two kinds of white are not one colour', () => drawn(96, 96, faint).toBuffer(), [96, 96], 48],
    ])('cuts out %s', async (_what, make, [width, height], x) => {
      const { png, engine: name } = await cut(await make());
      expect(name).toBe('grabcut');
      expect(await sharp(png).metadata()).toMatchObject({ format: 'png', width, height, hasAlpha: true });
      expect([await alphaAt(png, x, height / 2), await alphaAt(png, width - 3, 3)]).toEqual([255, 0]);
    });

    it('gives the same bytes for the same image', async () => {
      const bytes = await disc();
      expect((await cut(bytes)).png.equals((await cut(bytes)).png)).toBe(true);
    });

    it.each([['one colour', () => plain(64, 64)]])('says no_foreground to an image that is %s', async (_what, make) => {
      await expect(cut(await make())).rejects.toMatchObject({ problem: 'upstream_failed', options: { code: 'no_foreground' } });
    });

    // That it is refused otherwise is held by the photographs of the quality test.
    it('cuts a picture that it cannot cut out well for who accepts that, and says how sure it is', async () => {
      const picture = await openPicture((await readPhotograph('product-pancakes')).jpeg);
      const found = await engine.cutOut(picture, { ...caller, signal: never, acceptUncertain: true });
      expect(found).toMatchObject({ isUncertain: true, confidence: expect.closeTo(0.47, 1) });
    });

    it('cuts out a portrait before a busy background, where GrabCut finds a part, with the people model', async () => {
      const portrait = await readPhotograph('person-officer');
      const { png, ...facts } = await engine.cutOut(await openPicture(portrait.jpeg), { ...caller, signal: never });
      expect(facts).toMatchObject({ engine: 'selfie_segmentation', isUncertain: false });
      expect(await iouOf(png, portrait)).toBeGreaterThan(0.9);
    });

    it('costs no thread a turn for a picture of one colour, however large: 2 kB that unpack to 16 million pixels', async () => {
      const given = jest.spyOn(Worker.prototype, 'postMessage');
      for (const type of firstOf(['png', 'jpeg'] as const)) {
        const picture = sharp(await plain(4_096, 4_096)).toFormat(type, { quality: 50 });
        await expect(cut(await picture.toBuffer())).rejects.toMatchObject({ options: { code: 'no_foreground' } });
      }
      expect(given).not.toHaveBeenCalled();
      given.mockRestore();
    });

    it('fails with 400 on an image that ends in the middle, and goes on', async () => {
      const whole = await disc('jpeg', 400);
      await expect(cut(whole.subarray(0, whole.length / 2))).rejects.toMatchObject({ problem: 'invalid_request' });
      await expect(cut(await disc())).resolves.toMatchObject({ engine: 'grabcut' });
    });
  });

  describe("the engine with an operator's model", () => {
    const engine = useOpened(async () => {
      const modelFile = join(newFolder(), 'light-parts.onnx');
      await writeFile(modelFile, tinyOnnxModel(64));
      const model = { modelFile, size: 64, mean: [0, 0, 0], std: [1, 1, 1], outputActivation: 'none' } as const;
      return createLocalEngine({ threadFile, method: { kind: 'onnx', model }, threads: 1, queue: 0 });
    });

    /** Rows of a picture of 160 × 80: a disc of a radius, at the left, of a colour. */
    const discOf = async (colour: string, radius: number) => {
      const svg = `<svg width="160" height="80"><rect width="100%" height="100%"/><circle cx="40" cy="40" r="${radius}" fill="${colour}"/></svg>`;
      const png = await sharp(Buffer.from(svg)).removeAlpha().png().toBuffer();
      return engine.cutOut(await openPicture(png), { ...caller, signal: never });
    };

    it('says how sure it is, and does not squeeze the picture', async () => {
      const { png, ...facts } = await discOf('#fff', 30);
      expect(facts).toEqual({ engine: 'onnx', confidence: 1, isUncertain: false });
      const alpha = await sharp(png).extractChannel('alpha').raw().toBuffer();
      const at = (x: number, y: number) => alpha[y * 160 + x];
      expect([at(40, 40), at(16, 40), at(40, 16), at(40, 3), at(100, 40)]).toEqual([255, 255, 255, 0, 0]);
    });

    it.each([
      ['no part of the picture', '#f00', 30],
      ['a speck', '#fff', 3],
    ])('says no_foreground where the model sees %s', async (_what, colour, radius) => {
      await expect(discOf(colour, radius)).rejects.toMatchObject({ options: { code: 'no_foreground' } });
    });
  });

  describe('the threads', () => {
    const files: string[] = [];
    const pools: CutOutPool[] = [];
    afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.close())));
    afterAll(() => Promise.all(files.map((file) => rm(file))));

    async function poolOf(source: string, options: { threads?: number; queue?: number } = {}): Promise<CutOutPool> {
      const threadFile = join(__dirname, '../../../.test', `thread-${process.pid}-${files.length}.cjs`);
      files.push(threadFile);
      await writeFile(threadFile, source);
      const pool = new CutOutPool({ threadFile, method: { kind: 'grabcut' }, threads: 1, queue: 1, ...options });
      pools.push(pool);
      return pool;
    }
    const job = (): Promise<CutOutJob> => {
      const pixels = () => ({ rgba: new Uint8Array(4), width: 1, height: 1 });
      return Promise.resolve({ picture: pixels(), small: pixels(), leastConfidence: 0 });
    };
    const answering = `const { parentPort } = require('node:worker_threads'); let count = 0;
    parentPort.on('message', () => parentPort.postMessage({ kind: 'failed', message: String(++count) }));`;
    const hanging = `const { parentPort } = require('node:worker_threads'); parentPort.on('message', () => { for (;;); });`;

    const by = (subscriptionId: string, signal = new AbortController().signal, mode: KeyMode = 'live'): CutOutCall => ({
      subscriptionId,
      mode,
      signal,
    });

    it('of several, one is left to the others', async () => {
      const pool = await poolOf(hanging, { threads: 2, queue: 14 });
      const gone = new AbortController();
      const greedy = [1, 2, 3].map(() => pool.run(job, by('one', gone.signal)).catch(() => 'gone'));
      await eventually(() => pool.levels().busy === 1);
      expect(pool.levels()).toEqual({ waiting: 2, busy: 1, size: 2 });
      const other = pool.run(job, by('two', gone.signal)).catch(() => 'gone');
      expect(pool.levels()).toEqual({ waiting: 2, busy: 2, size: 2 });
      gone.abort(new Error('enough'));
      await Promise.all([...greedy, other]);
    });

    it('leave a newcomer the next turn, and places in the queue, however many pictures of one subscription wait', async () => {
      const pool = await poolOf(answering, { queue: 15 });
      const order: string[] = [];
      const cut = async (call: CutOutCall) => {
        await pool.run(job, call);
        order.push(call.subscriptionId);
      };
      const greedy = Array.from({ length: 4 }, () => cut(by('greedy')));
      await expect(pool.run(job, by('greedy'))).rejects.toMatchObject({ problem: 'concurrency_exceeded' });
      const testers = ['t1', 't2', 't3', 't4'].flatMap((name) => [1, 2].map(() => pool.run(job, by(name, undefined, 'test'))));
      await expect(pool.run(job, by('t5', undefined, 'test'))).rejects.toMatchObject({ problem: 'service_not_ready' });
      await Promise.all([...greedy, cut(by('newcomer')), ...testers]);
      expect(order.indexOf('newcomer')).toBe(1);
    });

    it.each([
      ['end by themselves', 'process.exit(1)', 'without a result'],
      ['throw', "throw new Error('no such model')", 'no such model'],
    ])('that %s fail their job with the reason, and are replaced', async (_what, does, reason) => {
      const pool = await poolOf(`require('node:worker_threads').parentPort.on('message', () => { ${does}; });`);
      for (let time = 0; time < 2; time++) await expect(pool.run(job, by('one'))).rejects.toThrow(reason);
    });
  });
});

describe('its quality', () => {
  const CALL = { mode: 'live' as const, subscriptionId: 'one', signal: new AbortController().signal };

  const engine = useOpened(() => createLocalEngine({ threadFile, method: { kind: 'grabcut' }, threads: 1, queue: 0 }));

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

  /** What `npm test` cuts out: a success and two refusals. The tests of the engine cut out a person and a plate of pancakes. */
  const ONE_OF_A_KIND = ['animal-cat-face', 'empty-dunes', 'plant-sunflower'];

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
});
