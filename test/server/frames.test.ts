import { closeFrame, encodeFrames, FrameDecoder, openFrame } from '../../plugins/server/wire/frames';
import { ProtocolError } from '../../plugins/server/wire/wire-reader';
import { Writer } from '../../plugins/server/wire/wire-writer';
import { fc } from '../support/fast-check';

/** The frames that come out when `stream` arrives cut at `cuts`. */
function decodeInChunks(stream: Buffer, cuts: number[]): string[] {
  const frames: string[] = [];
  const decoder = new FrameDecoder((bytes, start, end) => frames.push(bytes.toString('hex', start, end)));
  const at = [...new Set(cuts.map((cut) => cut % (stream.length + 1)))].sort((a, b) => a - b);
  // Each chunk is overwritten once it was pushed, as a reused read buffer is.
  [0, ...at].forEach((from, index) => {
    const chunk = Buffer.from(stream.subarray(from, at[index] ?? stream.length));
    decoder.push(chunk);
    chunk.fill(0xee);
  });
  return frames;
}

const payloads = fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 });

describe('the frame decoder', () => {
  it('gives the same frames however the stream is cut', () => {
    fc.assert(
      fc.property(payloads, fc.array(fc.nat(), { maxLength: 20 }), (each, cuts) => {
        expect(decodeInChunks(encodeFrames(each), cuts)).toEqual(each.map((payload) => Buffer.from(payload).toString('hex')));
      }),
    );
  });

  it.each(['00000004', 'ffffffff'])('refuses a frame longer than the limit before it comes: length %s', (length) => {
    const decoder = new FrameDecoder(() => {}, 0x3ff_ffff);
    expect(() => decoder.push(Buffer.from(length, 'hex'))).toThrow(ProtocolError);
  });

  it('takes a frame of exactly the limit', () => {
    const seen: number[] = [];
    const decoder = new FrameDecoder((_bytes, start, end) => seen.push(end - start), 1000);
    decoder.push(encodeFrames([Buffer.alloc(1000)]));
    expect(seen).toEqual([1000]);
  });

  it('copies a large frame in small chunks a bounded number of times', () => {
    const copy = jest.spyOn(Buffer.prototype, 'copy');
    const decoder = new FrameDecoder(() => {});
    const stream = encodeFrames([Buffer.alloc(4 * 1024 * 1024, 5)]);
    copy.mockClear();
    let copied = 0;
    for (let at = 0; at < stream.length; at += 1000) decoder.push(stream.subarray(at, at + 1000));
    for (const result of copy.mock.results) copied += result.value as number;
    copy.mockRestore();
    expect(copied).toBeLessThan(3 * stream.length);
  });

  it('reserves no memory for bytes that were only announced', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 500 }, () => new FrameDecoder(() => {}));
    for (const decoder of decoders) decoder.push(Buffer.from([0, 0, 0, 4, 1]));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(decoders.every((decoder) => decoder.isMidFrame)).toBe(true);
  });

  it('ignores the rest of a chunk once it was stopped', () => {
    const seen: string[] = [];
    const decoder: FrameDecoder = new FrameDecoder((bytes, start, end) => {
      seen.push(bytes.toString('utf8', start, end));
      decoder.stop();
    });
    decoder.push(encodeFrames([Buffer.from('a'), Buffer.from('b')]));
    decoder.push(encodeFrames([Buffer.from('c')]));
    expect(seen).toEqual(['a']);
  });
});

it('frames written one after another come out as they went in, whatever their size', () => {
  fc.assert(
    fc.property(payloads, (each) => {
      const writer = new Writer(16);
      for (const payload of each) {
        const frame = openFrame(writer);
        writer.append(payload);
        closeFrame(writer, frame);
      }
      expect(writer.copy()).toEqual(encodeFrames(each));
    }),
  );
});
