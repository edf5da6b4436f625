import { ProtocolError } from './wire-reader';
import { type Writer } from './wire-writer';

/** 64 MiB: above any body that Kong keeps in memory (nginx's client_body_buffer_size, 8 KiB unless configured). */
export const defaultMaxFrameBytes = 64 * 1024 * 1024;

/** A partial frame's buffer grows from this size by doubling, so that a declared length alone never reserves memory. */
const firstBufferBytes = 4096;

/** Called for each whole frame; the bytes are valid only during the call. */
export type OnFrame = (bytes: Buffer, start: number, end: number) => void;

/**
 * Cuts a byte stream into frames (u32 little-endian length, then that many bytes), however it was chunked. A frame that lies whole in a
 * chunk is passed on in place. Only a frame cut in two is copied, once.
 */
export class FrameDecoder {
  private needed = -1;
  private lengthSoFar = 0;
  private lengthBytes = 0;
  private partial: Buffer | undefined;
  private held = 0;
  private stopped = false;

  constructor(
    private readonly onFrame: OnFrame,
    private readonly maxFrameBytes = defaultMaxFrameBytes,
  ) {}

  /** True while a frame has begun and not ended. */
  get isMidFrame(): boolean {
    return this.needed >= 0 || this.lengthBytes > 0;
  }

  /** Ignores everything from here on, including the rest of the present chunk. */
  stop(): void {
    this.stopped = true;
    this.partial = undefined;
  }

  /** @throws ProtocolError when a frame declares a length over the limit; nothing after it can be read then */
  push(chunk: Buffer): void {
    let pos = 0;
    while (!this.stopped) {
      if (this.needed < 0) {
        pos = this.readLength(chunk, pos);
        if (this.needed < 0) return;
      }
      if (this.held === 0 && chunk.length - pos >= this.needed) {
        const start = pos;
        pos += this.needed;
        this.needed = -1;
        this.onFrame(chunk, start, pos);
        continue;
      }
      if (pos === chunk.length) return;
      pos += this.hold(chunk, pos);
      if (this.held < this.needed) return;
      this.releaseHeld();
    }
  }

  private readLength(chunk: Buffer, from: number): number {
    let pos = from;
    if (this.lengthBytes === 0 && chunk.length - pos >= 4) {
      this.setNeeded(chunk.readUInt32LE(pos));
      return pos + 4;
    }
    while (pos < chunk.length) {
      this.lengthSoFar |= (chunk[pos++] as number) << (8 * this.lengthBytes);
      if (++this.lengthBytes < 4) continue;
      this.setNeeded(this.lengthSoFar >>> 0);
      this.lengthSoFar = 0;
      this.lengthBytes = 0;
      break;
    }
    return pos;
  }

  private setNeeded(length: number): void {
    if (length > this.maxFrameBytes) throw new ProtocolError(`frame of ${length} bytes, at most ${this.maxFrameBytes} are allowed`);
    this.needed = length;
  }

  /** Keeps the chunk's part of the current frame. Returns its length in bytes. */
  private hold(chunk: Buffer, pos: number): number {
    const taken = Math.min(this.needed - this.held, chunk.length - pos);
    const wanted = this.held + taken;
    if (this.partial === undefined || this.partial.length < wanted) {
      const size = Math.min(this.needed, Math.max(wanted, firstBufferBytes, this.held * 2));
      const grown = Buffer.allocUnsafe(size);
      this.partial?.copy(grown, 0, 0, this.held);
      this.partial = grown;
    }
    chunk.copy(this.partial, this.held, pos, pos + taken);
    this.held = wanted;
    return taken;
  }

  private releaseHeld(): void {
    const { partial, held } = this;
    this.partial = undefined;
    this.held = 0;
    this.needed = -1;
    if (partial !== undefined) this.onFrame(partial, 0, held);
  }
}

/** Opens a frame in `to`. Pass the result to {@link closeFrame}. Many frames may follow one another in one writer. */
export function openFrame(to: Writer): number {
  to.reserve(4);
  const at = to.length;
  to.length += 4;
  return at;
}

export function closeFrame(to: Writer, at: number): void {
  to.buffer.writeUInt32LE(to.length - at - 4, at);
}

/** All of `payloads` as frames in one buffer, so that they can be sent in one write. */
export function encodeFrames(payloads: readonly Uint8Array[]): Buffer {
  const size = payloads.reduce((sum, payload) => sum + 4 + payload.length, 0);
  const frames = Buffer.allocUnsafe(size);
  let pos = 0;
  for (const payload of payloads) {
    pos = frames.writeUInt32LE(payload.length, pos);
    frames.set(payload, pos);
    pos += payload.length;
  }
  return frames;
}
