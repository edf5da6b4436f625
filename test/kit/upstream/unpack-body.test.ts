import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { fc } from '../../support/fast-check';
import { encodingOf, unpackStart, unpackSync, unpackWhole } from '../../../services/kit/upstream/unpack-body';

const MOST = 10_000;
const PACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gzipSync,
  'X-GZip ': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

/** What came out, or the reason why nothing did. */
const outcome = async (work: () => Promise<Uint8Array> | Uint8Array): Promise<string> => {
  try {
    return Buffer.from(await work()).toString('hex');
  } catch (error) {
    return `refused: ${String(Reflect.get(Object(error), 'reason'))}`;
  }
};

it('with and without waiting for it, whatever the bytes are and whatever they call themselves', async () => {
  const encoding = fc.constantFrom(...Object.keys(PACKERS), 'zstd', 'gzip, gzip');
  const packer = fc.constantFrom(...Object.values(PACKERS));
  const property = fc.asyncProperty(encoding, packer, fc.uint8Array({ maxLength: 200 }), fc.nat(400), async (header, pack, bytes, cut) => {
    const packed = pack(Buffer.from(bytes)).subarray(0, cut);
    const waited = await outcome(() => unpackWhole(packed, header, 100));
    expect(await outcome(() => unpackSync(packed, header, 100))).toBe(waited);
  });
  await fc.assert(property);
});

describe.each(Object.entries(PACKERS))('%s', (header, pack) => {
  it('comes out as it went in, up to the cap', async () => {
    const whole = Buffer.from('page '.repeat(MOST / 5));
    expect(whole.equals(await unpackWhole(pack(whole), header, MOST))).toBe(true);
    expect(whole.equals(unpackSync(pack(whole), header, MOST))).toBe(true);
    const larger = Buffer.concat([whole, Buffer.from('!')]);
    for (const unpack of [unpackWhole, unpackSync])
      expect(await outcome(() => unpack(pack(larger), header, MOST))).toBe('refused: too_large');
    const start = await unpackStart(pack(larger), header, MOST);
    expect([start.isCut, whole.equals(start.bytes)]).toEqual([true, true]);
  });
});

it('an empty body is empty, however it is said to be packed', async () => {
  for (const header of [undefined, 'gzip', 'br']) expect(await outcome(() => unpackWhole(Buffer.alloc(0), header, MOST))).toBe('');
});

it.each(['zstd', 'compress', 'gzip, gzip', 'br,gzip', '*'])('%s is not read', (header) => {
  expect(encodingOf(header)).toBeUndefined();
});
