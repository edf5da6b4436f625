/** The peer's bytes break the protocol: cut short, out of bounds, nested too deep, or a value that the field cannot hold. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

/** Kong nests at most a list in a header. A deeper message is an attack on the stack. protobuf's own readers have the same bound. */
const maxNesting = 100;
const twoTo32 = 4_294_967_296;

/** One name for each hash, the last seen. The table is bounded, and a client that sends odd names only slows itself. */
const knownNames = new Array<string | undefined>(512).fill(undefined);
const maxKnownLength = 48;

function isAt(buffer: Buffer, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) if (buffer[at + index] !== text.charCodeAt(index)) return false;
  return true;
}

/**
 * Reads protobuf fields from one stretch of a buffer. Every read is checked against the end of the message that is open, so a wrong length
 * throws a {@link ProtocolError} and never reaches other bytes. One reader can be used for many messages ({@link reset}): decoding is
 * synchronous and allocates only its result.
 */
export class WireReader {
  pos = 0;
  end = 0;
  private buffer: Buffer;
  private depth = 0;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.buffer = buffer;
    this.reset(buffer, start, end);
  }

  reset(buffer: Buffer, start = 0, end = buffer.length): this {
    if (start < 0 || start > end || end > buffer.length) throw new ProtocolError('message lies outside its buffer');
    this.buffer = buffer;
    this.pos = start;
    this.end = end;
    this.depth = 0;
    return this;
  }

  /** The next field's tag, `number << 3 | wireType`, or 0 at the end of the open message. */
  tag(): number {
    if (this.pos >= this.end) return 0;
    const tag = this.int32() >>> 0;
    if (tag >>> 3 === 0) throw new ProtocolError('field number 0');
    return tag;
  }

  private byte(): number {
    if (this.pos >= this.end) throw new ProtocolError('message ends inside a field');
    return this.buffer[this.pos++] as number;
  }

  /** The low 32 bits of a varint, signed: negative int32 values travel as ten bytes. */
  int32(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 70; shift += 7) {
      byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value | 0;
    }
    throw new ProtocolError('varint longer than ten bytes');
  }

  /** An int64 as a number. @throws ProtocolError past 2^53, because a rounded sequence would reply to the wrong call */
  int64(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte();
      if (shift < 28) low |= (byte & 0x7f) << shift;
      else if (shift === 28) {
        low |= (byte & 0x7f) << 28;
        high = (byte & 0x7f) >>> 4;
      } else if (shift < 63) high |= (byte & 0x7f) << (shift - 32);
      else high |= (byte & 1) << 31;
      if (byte >= 0x80) continue;
      const value = (high | 0) * twoTo32 + (low >>> 0);
      if (!Number.isSafeInteger(value)) throw new ProtocolError('int64 outside the exact range');
      return value;
    }
    throw new ProtocolError('varint longer than ten bytes');
  }

  double(): number {
    const at = this.take(8);
    return this.buffer.readDoubleLE(at);
  }

  /** Text; bytes that are not UTF-8 become U+FFFD and never swallow an ASCII byte. */
  string(): string {
    const length = this.int32() >>> 0;
    const at = this.take(length);
    return length === 0 ? '' : this.buffer.toString('utf8', at, at + length);
  }

  /**
   * Like {@link string}, for names that repeat (header names). A known name is not created again, and the same string object is faster as a
   * property.
   */
  name(): string {
    const length = this.int32() >>> 0;
    const at = this.take(length);
    if (length === 0 || length > maxKnownLength) return this.buffer.toString('utf8', at, at + length);
    const { buffer } = this;
    let hash = length;
    for (let index = at; index < at + length; index++) hash = (hash * 31 + (buffer[index] as number)) | 0;
    const slot = hash & (knownNames.length - 1);
    const known = knownNames[slot];
    if (known !== undefined && known.length === length && isAt(buffer, at, known)) return known;
    const name = buffer.toString('utf8', at, at + length);
    // Names have only ASCII, in which a character is a byte, so that isAt can compare the two.
    if (isAt(buffer, at, name) && name.length === length) knownNames[slot] = name;
    return name;
  }

  /** Returns a copy, because the buffer below is reused. */
  bytes(): Buffer {
    const length = this.int32() >>> 0;
    const at = this.take(length);
    return Buffer.from(this.buffer.subarray(at, at + length));
  }

  /** Opens a nested message. Pass the result to {@link leave}. */
  enter(): number {
    const outer = this.end;
    const length = this.int32() >>> 0;
    const at = this.take(length);
    if (++this.depth > maxNesting) throw new ProtocolError('message nested too deeply');
    this.pos = at;
    this.end = at + length;
    return outer;
  }

  leave(outer: number): void {
    this.pos = this.end;
    this.end = outer;
    this.depth--;
  }

  /** Skips a field that this side does not know. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.int32();
        return;
      case 1:
        this.take(8);
        return;
      case 2:
        this.take(this.int32() >>> 0);
        return;
      case 3:
        return this.skipGroup(tag);
      case 5:
        this.take(4);
        return;
      default:
        throw new ProtocolError('unknown wire type');
    }
  }

  private skipGroup(open: number): void {
    if (++this.depth > maxNesting) throw new ProtocolError('message nested too deeply');
    for (let tag = this.tag(); tag !== open + 1; tag = this.tag()) {
      if (tag === 0) throw new ProtocolError('message ends inside a group');
      this.skip(tag);
    }
    this.depth--;
  }

  private take(length: number): number {
    const at = this.pos;
    if (length > this.end - at) throw new ProtocolError('field is longer than its message');
    this.pos = at + length;
    return at;
  }
}
