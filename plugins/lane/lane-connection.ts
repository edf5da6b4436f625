import { type Socket } from 'node:net';
import { type EntranceRoutes } from '../access-layer/entrance-routes';
import { type EntranceLog } from '../access-layer/gateway-question';
import { refusalOf } from '../access-layer/held-request';
import { type RawBody } from '../core/access/kong-pdk';
import { readRequestVariable, type RequestFacts } from '../core/access/request-variable';
import { type Question, type Verdict } from '../core/access/verdict';
import { FrameDecoder } from '../server/frames';
import { ASKED, frame, kindOf, LEAVING, readHead, readQuestion, SAID, writeVerdict } from './frames';

/** What all connections of a server share. */
export interface LaneContext {
  readonly routes: EntranceRoutes;
  readonly log: EntranceLog;
  /** Told of answers, in lines (answer-line.ts). */
  readonly hear: (lines: string) => void;
  /** Counts up by one every {@link TICK_MS}: the one clock of all deadlines. */
  tick: number;
}

export const TICK_MS = 500;
/** Shorter than the 6 s for which the Lua waits. */
const DECISION_TICKS = 5_000 / TICK_MS;
/** While the client's form is on its way: longer than the longest form_key_timeout_ms. */
const BODY_TICKS = 30_000 / TICK_MS;
/** How long a connection that was ended may take to close from the other side. */
const LINGER_MS = 1_000;

/** One kept connection of a gateway: one question at a time. Nothing on it admits a request but a verdict. */
export class LaneConnection {
  private readonly decoder = new FrameDecoder((bytes, start, end) => this.onFrame(bytes, start, end));
  /** The question under way. */
  private facts: RequestFacts | undefined;
  private deadline = 0;
  /** The route of a question for whose head the gateway was asked. */
  private headOf: string | undefined;
  private takeBody: ((body: RawBody) => void) | undefined;
  /** A body that was asked for and has not come. It may come after its question was answered. */
  private owesBody = false;
  private isLeaving = false;

  constructor(
    private readonly socket: Socket,
    private readonly context: LaneContext,
  ) {
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    // A vanished peer is ordinary; `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => this.decoder.stop());
  }

  /** Ends the connection as soon as nothing runs on it. */
  drain(): void {
    this.isLeaving = true;
    if (!this.facts && this.headOf === undefined) this.leave();
  }

  /** Refuses what still runs, and ends the connection. */
  abort(): void {
    if (this.facts) this.refuse(this.facts);
    this.leave();
  }

  /** Refuses a question whose time is over. */
  expire(): void {
    if (!this.facts || this.context.tick <= this.deadline) return;
    this.context.log.error({ requestId: this.facts.requestId }, 'the decision took too long: the request is refused with 503');
    this.refuse(this.facts);
  }

  private onData(chunk: Buffer): void {
    try {
      this.decoder.push(chunk);
    } catch (err) {
      // Nothing after it can be trusted. The gateway refuses a request whose connection ends.
      this.context.log.warn({ err }, 'not the protocol of the lane: the connection is ended');
      this.decoder.stop();
      this.facts = undefined;
      this.socket.destroy();
    }
  }

  private onFrame(bytes: Buffer, start: number, end: number): void {
    const kind = kindOf(bytes, start, end);
    const isFree = !this.facts && this.headOf === undefined;
    if (kind === SAID.question && isFree) this.onQuestion(bytes.toString('latin1', start + 2, end));
    else if (kind === SAID.whole && isFree) {
      const { route, told } = readQuestion(bytes.toString('latin1', start + 2, end));
      this.decide(route, readHead(told));
    } else if (kind === SAID.head && this.headOf !== undefined)
      this.decide(this.headOf, readHead(bytes.toString('latin1', start + 2, end)));
    else if (kind === SAID.body && this.owesBody) {
      this.owesBody = false;
      this.takeBody?.({ content: Buffer.from(bytes.subarray(start + 2, end)) });
      this.takeBody = undefined;
    } else if (kind === SAID.told) this.context.hear(bytes.toString('latin1', start + 2, end));
    else throw new Error('a frame that was not asked for');
  }

  private onQuestion(text: string): void {
    const { route, told } = readQuestion(text);
    const facts = readRequestVariable(told);
    // A preflight names the headers that a page wants to send, which the variable leaves out.
    if (typeof facts === 'object' && facts.method !== 'OPTIONS') this.decide(route, facts);
    else {
      this.headOf = route;
      this.socket.write(frame(ASKED.head), 'latin1');
    }
  }

  private decide(route: string, facts: RequestFacts): void {
    this.headOf = undefined;
    this.facts = facts;
    this.deadline = this.context.tick + DECISION_TICKS;
    const { callerAddress, requestId, rawQuery, rawPath, method, headers } = facts;
    const question: Question = { callerAddress, requestId, rawQuery, rawPath, method, headers, readBody: this.readBody };
    try {
      const verdict = this.context.routes.findByText(route).decide(question);
      verdict.then((found) => this.answer(facts, found), (error: unknown) => this.fail(facts, error)); // prettier-ignore
    } catch (error) {
      this.fail(facts, error);
    }
  }

  /** Asks for the body in a further exchange, as Kong's plugin does. */
  private readonly readBody = (): Promise<RawBody> => {
    if (!this.facts) return Promise.reject(new Error('this request was already answered'));
    this.deadline = this.context.tick + BODY_TICKS;
    this.owesBody = true;
    this.socket.write(frame(ASKED.body), 'latin1');
    return new Promise((resolve) => {
      this.takeBody = (body) => {
        this.deadline = this.context.tick + DECISION_TICKS;
        resolve(body);
      };
    });
  };

  private fail(facts: RequestFacts, err: unknown): void {
    if (this.facts !== facts) return;
    this.context.log.error({ err, requestId: facts.requestId }, 'the request could not be decided and was refused');
    this.refuse(facts);
  }

  private refuse(facts: RequestFacts): void {
    this.answer(facts, refusalOf('access_layer_unavailable', facts));
  }

  /** A verdict for a question that is over already does nothing. */
  private answer(facts: RequestFacts, verdict: Verdict): void {
    if (this.facts !== facts) return;
    this.facts = undefined;
    this.takeBody = undefined;
    this.socket.write(writeVerdict(verdict, facts), 'latin1');
    if (this.isLeaving) this.leave();
  }

  private leave(): void {
    this.decoder.stop();
    this.socket.end(frame(LEAVING), 'latin1');
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}
