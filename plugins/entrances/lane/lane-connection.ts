import { type Socket } from 'node:net';
import { readRequestVariable } from '../../core/access/request-variable';
import { FrameDecoder } from '../../server/wire/frames';
import { ASKED, type Frame, frame, LEAVING, NO_QUESTION, readFrame, readHead, readQuestion, SAID } from './frames';
import { type LaneContext } from './lane-context';
import { LaneQuestion, type QuestionPlace } from './lane-question';

/** Milliseconds that the other side has to close a connection that we ended. */
const LINGER_MS = 1_000;

/** One keep-alive connection of a gateway: many questions at a time, with verdicts in the order in which they are decided. */
export class LaneConnection implements QuestionPlace {
  private readonly decoder = new FrameDecoder((bytes, start, end) => this.onFrame(readFrame(bytes, start, end)));
  private readonly questions = new Map<number, LaneQuestion>();
  /** The id of the last question; ids count up from 1. */
  private asked = 0;
  /** Frames that are sent in one write, after every received frame was read. */
  private outgoing = '';
  private isLeaving = false;

  constructor(
    private readonly socket: Socket,
    readonly context: LaneContext,
  ) {
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    // A vanished peer is ordinary; `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => this.decoder.stop());
  }

  /** Accepts no more questions, and ends the connection once nothing runs on it. */
  drain(): void {
    this.isLeaving = true;
    if (this.questions.size === 0) this.leave();
  }

  /** Refuses running questions, and ends the connection. */
  abort(): void {
    for (const question of [...this.questions.values()]) question.refuse();
  }

  /** Refuses questions that are past their deadline. */
  expire(): void {
    for (const question of this.questions.values()) question.expire();
  }

  send(frames: string): void {
    // Runs after the promises that the input has settled.
    if (this.outgoing === '') process.nextTick(this.flush);
    this.outgoing += frames;
  }

  forget(id: number): void {
    this.questions.delete(id);
    if (this.isLeaving && this.questions.size === 0) this.leave();
  }

  private readonly flush = (): void => {
    if (this.outgoing !== '') this.socket.write(this.outgoing, 'latin1');
    this.outgoing = '';
  };

  private leave(): void {
    this.decoder.stop();
    this.outgoing += frame(LEAVING, NO_QUESTION);
    this.flush();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  private onData(chunk: Buffer): void {
    try {
      this.decoder.push(chunk);
    } catch (err) {
      // Nothing after it can be trusted. The gateway refuses all requests on a connection that ends.
      this.context.log.warn({ err }, 'not the protocol of the lane: the connection is ended');
      this.decoder.stop();
      this.socket.destroy();
    }
  }

  private onFrame({ kind, question: id, text }: Frame): void {
    const known = this.questions.get(id);
    if (kind === SAID.question || kind === SAID.whole) this.onQuestion(kind, id, text);
    else if (kind === SAID.told) {
      this.context.hear(text);
      this.send(frame(ASKED.told, NO_QUESTION));
    } else if (kind === SAID.head && known) known.decide(readHead(text));
    else if (kind === SAID.body && known) known.onBody(Buffer.from(text, 'latin1'));
    // A form may arrive after its question's verdict.
    else if (!(kind === SAID.body && id > NO_QUESTION && id <= this.asked)) throw new Error('a frame that was not asked for');
  }

  private onQuestion(kind: string, id: number, text: string): void {
    if (id !== this.asked + 1) throw new Error('a question out of turn');
    this.asked = id;
    if (this.isLeaving) return this.send(frame(LEAVING, id));
    const { route, told } = readQuestion(text);
    const facts = kind === SAID.whole ? readHead(told) : readRequestVariable(told);
    const question = new LaneQuestion(id, route, this);
    this.questions.set(id, question);
    // The variable lacks the headers that a page wants to send, which a preflight names, and those that a route names for its key.
    if (typeof facts === 'object' && (kind === SAID.whole || (facts.method !== 'OPTIONS' && !route.includes('header:'))))
      question.decide(facts);
    else question.askForHead();
  }
}
