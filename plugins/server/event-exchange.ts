import { EventOverError } from '../core/access/kong-pdk';
import { closeFrame, openFrame } from './wire/frames';
import { type Writer } from './wire/wire-writer';

/** The connection's functions that an event needs. */
export interface EventExchangePort {
  /** Frames of reads that wait for {@link flushSoon}. */
  readonly reads: Writer;
  /** Frames of writes, held back until the event ends. */
  readonly held: Writer;
  /** Sends `reads` at the end of this tick. */
  flushSoon(): void;
  /** Kong may wait long for the client's body, so another deadline applies meanwhile. */
  waitForBody(): void;
  bodyArrived(): void;
}

/** Turns the bytes of a reply into the plugin's value. */
export type Decode<T> = (bytes: Buffer, start: number, end: number) => T;

/** Writes resolve with this, as in kong-pdk. */
const resolved = Promise.resolve(null);
const ignore = (): void => {};

class PendingRead {
  readonly promise: Promise<unknown>;
  resolve: (value: unknown) => void = ignore;
  private refuse: (reason: Error) => void = ignore;

  constructor(
    readonly decode: Decode<unknown>,
    readonly isBody: boolean,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.refuse = reject;
    });
  }

  /** Rejects without ending the process when the plugin no longer listens. */
  reject(reason: Error): void {
    this.promise.catch(ignore);
    this.refuse(reason);
  }
}

/**
 * The PDK calls of one event. Reads started in one tick share a write; writes are held back and leave with the end of the
 * event, so a plugin that reads once costs Kong two blocking exchanges however much it sets.
 * A read therefore never sees what a write of the same event will change.
 */
export class EventExchange {
  private readonly reads: PendingRead[] = [];
  private answered = 0;
  private sent = 0;
  private writes = 0;
  private exited = false;
  private over = false;
  /** For the log. Undefined until the plugin has read it. */
  requestId: string | undefined;

  constructor(private readonly port: EventExchangePort) {}

  /** True once the plugin has refused the request. Later calls of the plugin have no effect. */
  get hasExited(): boolean {
    return this.exited;
  }

  /** True while Kong owes the reply to a read. */
  get awaitsReply(): boolean {
    return this.answered < this.sent;
  }

  /** `frames`: the call, ready to send. */
  read<T>(frames: Buffer, decode: Decode<T>, isBody = false): Promise<T> {
    if (this.over || this.exited) return refused();
    if (this.reads.length === this.sent) this.port.flushSoon();
    this.port.reads.append(frames);
    const read = new PendingRead(decode, isBody);
    this.reads.push(read);
    if (isBody) this.port.waitForBody();
    return read.promise as Promise<T>;
  }

  /** `nameFrame`: the framed method name; `write` adds the fields of its argument. */
  write<T>(nameFrame: Buffer, value: T, write: (to: Writer, value: T) => void): Promise<null> {
    if (this.over) return refused();
    if (this.exited) return resolved;
    const { held } = this.port;
    const start = held.length;
    held.append(nameFrame);
    const frame = openFrame(held);
    try {
      write(held, value);
    } catch (error) {
      held.length = start;
      throw error;
    }
    closeFrame(held, frame);
    this.writes++;
    return resolved;
  }

  /** Like {@link write}, for the call that ends the request. */
  exit<T>(nameFrame: Buffer, value: T, write: (to: Writer, value: T) => void): Promise<null> {
    const done = this.write(nameFrame, value, write);
    this.exited = true;
    return done;
  }

  /** Forgets every write and ends the request with `frames`, one call ready to send. */
  replaceWrites(frames: Buffer): void {
    this.port.held.reset();
    this.port.held.append(frames);
    this.writes = 1;
  }

  /** Notes that the reads so far have been sent. */
  markSent(): void {
    this.sent = this.reads.length;
  }

  /** Passes one reply of Kong to the oldest read. */
  answer(bytes: Buffer, start: number, end: number): void {
    const read = this.reads[this.answered++];
    if (read === undefined) return;
    if (read.isBody) this.port.bodyArrived();
    let value: unknown;
    try {
      value = read.decode(bytes, start, end);
    } catch (error) {
      read.reject(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    read.resolve(value);
  }

  /** Ends the event for the plugin. Returns the number of replies that Kong will still send. */
  end(): number {
    this.over = true;
    const owed = this.sent - this.answered + this.writes;
    for (; this.answered < this.reads.length; this.answered++) this.reads[this.answered]?.reject(new EventOverError());
    return owed;
  }
}

/** A rejected promise that does not end the process if nothing awaits it. */
function refused<T>(): Promise<T> {
  const promise = Promise.reject<T>(new EventOverError());
  promise.catch(ignore);
  return promise;
}
