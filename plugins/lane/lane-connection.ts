import { type Socket } from 'node:net';
import { refusalOf } from '../access-layer/held-request';
import { type RawBody } from '../core/access/kong-pdk';
import { readRequestVariable, type RequestFacts } from '../core/access/request-variable';
import { type Verdict } from '../core/access/verdict';
import { FrameDecoder } from '../server/frames';
import { ASKED, frame, kindOf, LEAVING, readHead, readQuestion, SAID, writeVerdict } from './frames';
import { BODY_TICKS, DECISION_TICKS, type LaneContext } from './lane-context';

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

  private get isFree(): boolean {
    return !this.facts && this.headOf === undefined;
  }

  /** Ends the connection as soon as nothing runs on it. */
  drain(): void {
    this.isLeaving = true;
    if (this.isFree) this.leave();
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
    const text = bytes.toString('latin1', start + 2, end);
    if ((kind === SAID.question || kind === SAID.whole) && this.isFree) this.onQuestion(kind, text);
    else if (kind === SAID.head && this.headOf !== undefined) this.decide(this.headOf, readHead(text));
    else if (kind === SAID.body && this.owesBody) this.onBody(Buffer.from(text, 'latin1'));
    else if (kind === SAID.told) this.context.hear(text);
    else throw new Error('a frame that was not asked for');
  }

  private onQuestion(kind: string, text: string): void {
    const { route, told } = readQuestion(text);
    const facts = kind === SAID.whole ? readHead(told) : readRequestVariable(told);
    // A preflight names the headers that a page wants to send, which the variable leaves out.
    if (typeof facts === 'object' && (kind === SAID.whole || facts.method !== 'OPTIONS')) this.decide(route, facts);
    else {
      this.headOf = route;
      this.socket.write(frame(ASKED.head), 'latin1');
    }
  }

  private decide(route: string, facts: RequestFacts): void {
    this.headOf = undefined;
    this.facts = facts;
    this.deadline = this.context.tick + DECISION_TICKS;
    try {
      const verdict = this.context.routes.findByText(route).decide({ ...facts, readBody: this.readBody });
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
    return new Promise((resolve) => (this.takeBody = resolve));
  };

  private onBody(content: Buffer): void {
    this.owesBody = false;
    if (!this.takeBody) return;
    this.deadline = this.context.tick + DECISION_TICKS;
    this.takeBody({ content });
    this.takeBody = undefined;
  }

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
