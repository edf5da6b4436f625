import { imageService } from '../../../services/products/image/routes';
import { backgroundRemoverOutput } from '../../../services/products/image/schema';
import { createLog } from '../../../services/kit/log';
import { imageWorkerSettings } from '../../../services/workers/image/settings';
import sharp from 'sharp';
import { disc, plain } from '../../workers/image/pictures';
import { buildHarness } from '../../kit/harness';
import { field as text, file, multipart } from '../../kit/input/send-input';
import { anyCharacter, anyWebUrl } from '../../support/any-text';
import { fc, propertyRuns } from '../../support/fast-check';
import { startTestSandbox } from '../../support/sandbox';
import { openedForTests } from '../../support/opened';
import { startImageWorker } from '../../../services/workers/image/start-image-worker';

const URL_PATH = '/image/background_remover';
const log = createLog('image', { level: 'silent' });
const opened = openedForTests();
const sandbox = opened.use(startTestSandbox);
const worker = opened.use(
  () => {
    const env = { SANDBOX_URL: sandbox.url, IMAGE_UPSTREAM_URL: `ws://127.0.0.1:${sandbox.port}/background-removal/v1` };
    return startImageWorker(imageWorkerSettings.parse(env), log, '/no/such/thread');
  },
  (each) => each.close(200),
);
const service = opened.use(() => buildHarness(imageService, { IMAGE_WORKER_URL: worker.address }));
let png: Buffer;
beforeAll(async () => void (png = await disc()));

const test64 = { context: { mode: 'test' as const } };
const post = (payload: object, more: object = {}) => service.call({ method: 'POST', url: URL_PATH, payload, ...test64, ...more });

const form = (...parts: Parameters<typeof multipart>[0]) => {
  const { payload, type } = multipart(parts);
  return { payload, headers: { 'content-type': type } };
};

describe('a success', () => {
  it('has exactly the documented members', async () => {
    const response = await post({ image: png.toString('base64') });
    expect(response.statusCode).toBe(200);
    const body = response.json();
    expect(body).toEqual({
      status: 'success',
      data: {
        message: expect.any(String),
        image_base64: expect.stringMatching(/^[A-Za-z0-9+/]+={0,2}$/),
        width: 96,
        height: 96,
        engine: 'sandbox',
        confidence: 1,
        mime: 'image/png',
      },
      timestamp: '2026-03-14 09:26:53',
    });
    expect(response.headers['x-tollgate-mode']).toBe('test');
    expect(backgroundRemoverOutput.safeParse(body).success).toBe(true);
    const image = Buffer.from(body.data.image_base64, 'base64');
    expect(await sharp(image).metadata()).toMatchObject({ format: 'png', hasAlpha: true, width: 96, height: 96 });
    expect((await sharp(image).stats()).isOpaque).toBe(false);
  });

  const url64 = () => png.toString('base64url');
  it.each<[string, () => object | Promise<object>]>([
    ['base64 in JSON', () => ({ payload: { image_base64: png.toString('base64') } })],
    ['a data URI', () => ({ payload: { image: `data:image/png;base64,${png.toString('base64')}` } })],
    ['the query of a GET', () => ({ method: 'GET', query: { image: url64() } })],
    ['a urlencoded form', () => ({ payload: `image=${encodeURIComponent(png.toString('base64'))}`, headers: { 'content-type': 'application/x-www-form-urlencoded' } })],
    ['a multipart text', () => form(text('image_base64', png.toString('base64')))],
    ['a multipart file', () => form(file('image', png))],
    ['a form whose other field is empty', () => form(file('image', png), text('image_base64', ''))],
    ['JPEG', async () => ({ payload: { image: (await disc('jpeg')).toString('base64') } })],
  ])('comes from %s', async (_what, make) => {
    const response = await service.call({ method: 'POST', url: URL_PATH, ...test64, ...(await make()) });
    expect([response.statusCode, response.json().data?.width]).toEqual([200, 96]);
  }); // prettier-ignore

  it('has the format, size, frame and background that were asked for', async () => {
    const asked = { image: png.toString('base64'), format: 'webp', max_side: '48', crop: true, background: 'FFFFFF' };
    const { data } = (await post(asked)).json();
    const image = await sharp(Buffer.from(data.image_base64, 'base64')).metadata();
    expect(image).toMatchObject({ format: 'webp', hasAlpha: false, width: data.width, height: data.height });
    expect([data.mime, Math.max(data.width, data.height)]).toEqual(['image/webp', 48]);
  });

  it.each([
    ['image/*', 'image/png'],
    ['image/webp, image/png;q=0.8', 'image/png'],
    ['image/png, application/json', 'application/json; charset=utf-8'],
    ['', 'application/json; charset=utf-8'],
  ])('is the picture itself or JSON, as %j asks: %s', async (accept, type) => {
    const response = await post({ image: png.toString('base64') }, { headers: { accept } });
    expect([response.statusCode, response.headers['content-type'], response.headers.vary]).toEqual([200, type, 'Accept']);
    if (type !== 'image/png') return;
    expect(await sharp(response.rawPayload).metadata()).toMatchObject({ format: 'png', width: 96, height: 96 });
    expect(response.headers).toMatchObject({
      'x-image-width': '96',
      'x-image-height': '96',
      'x-image-engine': 'sandbox',
      'x-image-confidence': '1',
    });
  });

  it('a refusal is a problem in JSON for who wants a picture, too, and names the field that it came in', async () => {
    const refused = await post({ image_base64: png.subarray(0, 40).toString('base64') }, { headers: { accept: 'image/*' } });
    const errors = [{ field: 'image_base64', message: 'cannot be decoded' }];
    expect(refused.json()).toMatchObject({ status: 400, detail: 'image_base64 cannot be decoded.', errors });
  });

  it.each([{ format: 'gif' }, { max_side: 8193 }, { crop: 'perhaps' }, { background: 'white' }])('is not made of %j', async (wrong) => {
    const refused = await post({ image: png.toString('base64'), ...wrong });
    expect([refused.statusCode, refused.json().errors?.[0]?.field]).toEqual([400, Object.keys(wrong)[0]]);
  });

  it('is given to a key of the legacy product, and to no other', async () => {
    const image = png.toString('base64');
    expect((await post({ image }, { context: { mode: 'test', product: 'api-background-remover' } })).statusCode).toBe(200);
    expect((await post({ image }, { context: { mode: 'test', product: 'api-ip' } })).statusCode).toBe(401);
  });

  it('carries the largest image through every limit', async () => {
    // Noise does not compress: these are almost 10 MiB of PNG, 14 MB of base64.
    const noise = Buffer.alloc(1_860 * 1_860 * 3);
    for (let at = 0; at < noise.length; at += 4)
      noise.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, Math.min(at, noise.length - 4));
    const large = await sharp(noise, { raw: { width: 1_860, height: 1_860, channels: 3 } })
      .png({ compressionLevel: 0 })
      .toBuffer();
    expect(large.length).toBeGreaterThan(9.8 * 1_048_576);
    const response = await post({ image: large.toString('base64') });
    expect([response.statusCode, response.json().data?.width]).toEqual([200, 1_860]);
  });
});

describe('bad input', () => {
  const image = (value: unknown) => ({ payload: { image: value } });
  it.each<[string, () => object, string]>([
    ['no image', () => ({ payload: {} }), 'image'],
    ['both fields', () => ({ payload: { image: png.toString('base64'), image_base64: png.toString('base64') } }), 'image'],
    ['a file and a text', () => form(file('image', png), text('image_base64', 'AAAA')), 'image'],
    ['no base64', () => image('!!!!'), 'image'],
    ['an address', () => image('https://example.com/a.png'), 'image'],
    ['an SVG file that calls itself PNG', () => form(file('image', '<svg/>')), 'image'],
    ['a PNG that ends early', () => image(png.subarray(0, png.length - 60).toString('base64')), 'image'],
  ])('%s is a 400 that names the field', async (_what, make, field) => {
    const response = await service.call({ method: 'POST', url: URL_PATH, ...test64, ...make() });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'invalid_request', errors: expect.arrayContaining([expect.objectContaining({ field })]) });
  }); // prettier-ignore

  it('an image of less than 16 pixels is a 400', async () => {
    expect((await post({ image: (await plain(15, 40)).toString('base64') })).statusCode).toBe(400);
  });

  it('more than 10 MiB of image, or 16 MiB of body, is a 413', async () => {
    const large = file('image', Buffer.concat([png, Buffer.alloc(10_485_761 - png.length)]));
    const response = await service.call({ method: 'POST', url: URL_PATH, ...form(large), ...test64 });
    expect([response.statusCode, response.json().limit_bytes]).toEqual([413, 10_485_760]);
    expect((await post({ image: 'A'.repeat(17_000_000) })).statusCode).toBe(413);
  });

  it('more pixels than 50 million, and than a cut-out has without a smaller side, are a 413 before anything is decoded', async () => {
    // The header alone says so; the data is not even there.
    const { crc32 } = await import('node:zlib');
    const claiming = async (width: number, height: number): Promise<string> => {
      const bomb = Buffer.from(await plain(64, 64));
      bomb.writeUInt32BE(width, 16);
      bomb.writeUInt32BE(height, 20);
      bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
      return bomb.toString('base64');
    };
    const tooLarge = { status: 413, code: 'payload_too_large' };
    const bomb = (await post({ image: await claiming(60_000, 60_000), max_side: 512 })).json();
    expect(bomb).toMatchObject({ ...tooLarge, limit_pixels: 50_331_648 });
    const whole = (await post({ image: await claiming(8_688, 5_792) })).json();
    expect(whole).toMatchObject({ ...tooLarge, limit_pixels: 16_777_216, detail: expect.stringMatching(/max_side of 5016 or less/) });
    const stillTooLarge = await post({ image: await claiming(8_688, 5_792), max_side: 5_017 });
    expect(stillTooLarge.json()).toMatchObject({ ...tooLarge, limit_pixels: 16_777_216 });
    const sliver = await post({ image: await claiming(60_000, 500), max_side: 1_000 });
    expect(sliver.json()).toMatchObject({ status: 400, errors: [{ field: 'max_side' }] });
  });

  it('never makes a 500, whatever comes', async () => {
    const mutated = fc
      .array(fc.tuple(fc.nat(png.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 })
      .map((changes) => {
        const bytes = Buffer.from(png);
        for (const [at, value] of changes) bytes[at] = value;
        return bytes.toString('base64');
      });
    const wrong = fc.oneof(fc.string({ unit: anyCharacter }), fc.jsonValue(), fc.base64String(), anyWebUrl);
    const field = fc.constantFrom('image', 'image_base64');
    await fc.assert(
      fc.asyncProperty(field, fc.oneof(mutated, wrong), async (name, value) => {
        expect([200, 400, 413]).toContain((await post({ [name]: value })).statusCode);
      }),
      { numRuns: propertyRuns(150) },
    );
  });
});

it('an uncertain cut-out costs nothing and says how sure the engine is; who accepts it gets it, named so', async () => {
  const image = (await plain(16, 409)).toString('base64');
  const refused = await post({ image });
  expect(refused.json()).toMatchObject({ status: 502, code: 'cutout_uncertain', reason: 'cutout_uncertain', confidence: 0.2 });
  const accepted = await post({ image, accept_uncertain: true });
  expect(accepted.json()).toMatchObject({ status: 'uncertain', data: { width: 16, height: 409, confidence: 0.2 } });
  const bytes = await post({ image, accept_uncertain: true }, { headers: { accept: 'image/png' } });
  expect(bytes.headers).toMatchObject({ 'x-image-status': 'uncertain', 'x-image-confidence': '0.2' });
});
