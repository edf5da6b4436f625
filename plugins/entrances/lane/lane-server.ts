import { createServer, type Socket } from 'node:net';
import { EntranceRoutes } from '../../access-layer/entrance-routes';
import { type EntranceLog } from '../../access-layer/gateway-question';
import { type PluginModule, type RawBody } from '../../core/access/kong-pdk';
import { type AccessInstance, type Verdict } from '../../core/access/verdict';
import { readRequestVariable, type RequestFacts } from '../../core/access/request-variable';
import { FrameDecoder } from '../../server/wire/frames';
import { refusalOf } from '../../access-layer/held-request';
import { forCaller } from '../../core/access/grpc-refusal';
import { type ReadOn } from '../../core/problems';
import { ASKED, type Frame, frame, LEAVING, NO_QUESTION, readFrame, readHead, readQuestion, SAID, writeVerdict } from './frames';

export interface LaneOptions {
  readonly plugin: PluginModule<AccessInstance>;
  /** A unix socket, whose permissions prove that a gateway asks. */
  readonly path: string;
  readonly log: EntranceLog;
  /** Receives responses to admitted requests, in lines (plugins/core/access/answer-line.ts). */
  readonly hear: (lines: string) => void;
}

/** What all connections of a server share. */
interface LaneContext extends Pick<LaneOptions, 'log' | 'hear'> {
  readonly routes: EntranceRoutes;
  readonly readOn: ReadOn | undefined;
  /** Counts up by one every {@link TICK_MS}: the clock of all deadlines. */
  tick: number;
}

const TICK_MS = 500;
/** Shorter than the 6 s for which the Lua code waits. */
const DECISION_TICKS = 5_000 / TICK_MS;
/** The deadline while the client's form arrives: longer than the longest form_key_timeout_ms. */
const BODY_TICKS = 30_000 / TICK_MS;

/** Serves the Lua code of kong/lane: one frame asks about a request, one frame returns the verdict. */
export class LaneServer {
  private readonly connections = new Set<LaneConnection>();
  private readonly context: LaneContext;
  private readonly server = createServer((socket) => {
    const connection = new LaneConnection(socket, this.context);
    this.connections.add(connection);
    socket.on('close', () => this.connections.delete(connection));
  });
  private clock: NodeJS.Timeout | undefined;

  constructor(private readonly options: LaneOptions) {
    const { plugin, log, hear } = options;
    this.context = { routes: new EntranceRoutes(plugin, { takesForms: true }), log, readOn: plugin.readOn, hear, tick: 0 };
  }

  listen(): Promise<void> {
    this.clock = setInterval(() => {
      this.context.tick++;
      for (const connection of this.connections) connection.expire();
    }, TICK_MS).unref();
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ path: this.options.path, backlog: 4_096 }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** Accepts no more connections, and ends once running questions have their verdict, after `graceMs` at the latest. */
  async close({ graceMs }: { graceMs: number }): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const connection of this.connections) connection.drain();
    const cut = setTimeout(() => this.connections.forEach((connection) => connection.abort()), graceMs);
    await closed;
    clearTimeout(cut);
    clearInterval(this.clock);
  }
}

/** Milliseconds that the other side has to close a connection that we ended. */
const LINGER_MS = 1_000;

/** One keep-alive connection of a gateway: many questions at a time, with verdicts in the order in which they are decided. */
class LaneConnection {
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

  /** The question has its verdict. */
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
    else if (kind === SAID.reported) {
      this.context.hear(text);
      this.send(frame(ASKED.reported, NO_QUESTION));
    } else if (kind === SAID.head && known) known.decide(readHead(text));
    else if (kind === SAID.body && known) known.onBody(Buffer.from(text, 'latin1'));
    // A form may arrive after its question's verdict.
    else if (!(kind === SAID.body && id > NO_QUESTION && id <= this.asked)) throw new Error('a frame that was not asked for');
  }

  private onQuestion(kind: string, id: number, text: string): void {
    if (id !== this.asked + 1) throw new Error('a question out of turn');
    this.asked = id;
    if (this.isLeaving) return this.send(frame(LEAVING, id));
    const { route, request } = readQuestion(text);
    const facts = kind === SAID.whole ? readHead(request) : readRequestVariable(request);
    const question = new LaneQuestion(id, route, this);
    this.questions.set(id, question);
    // The variable lacks the headers that a page wants to send, which a preflight names, and those that a route names for its key.
    if (typeof facts === 'object' && (kind === SAID.whole || (facts.method !== 'OPTIONS' && !route.includes('header:'))))
      question.decide(facts);
    else question.askForHead();
  }
}

/** One question, until its verdict. Only a verdict admits its request. */
class LaneQuestion {
  private facts: RequestFacts | undefined;
  private deadline: number;
  private takeBody: ((body: RawBody) => void) | undefined;
  private isOver = false;

  constructor(
    private readonly id: number,
    private readonly route: string,
    private readonly connection: LaneConnection,
  ) {
    this.deadline = connection.context.tick + DECISION_TICKS;
  }

  /** Asks the gateway for what the variable does not contain. */
  askForHead(): void {
    this.connection.send(frame(ASKED.head, this.id));
  }

  /** @throws Error if the request is known already */
  decide(facts: RequestFacts): void {
    if (this.facts) throw new Error('a head that nobody asked for');
    this.facts = facts;
    this.deadline = this.connection.context.tick + DECISION_TICKS;
    try {
      const verdict = this.connection.context.routes.findByText(this.route).decide({ ...facts, readBody: this.readBody });
      verdict.then((found) => this.answer(facts, found), (error: unknown) => this.fail(facts, error)); // prettier-ignore
    } catch (error) {
      this.fail(facts, error);
    }
  }

  /** @throws Error if nobody asked for the body */
  onBody(content: Buffer): void {
    if (!this.takeBody) throw new Error('a body that nobody asked for');
    this.deadline = this.connection.context.tick + DECISION_TICKS;
    this.takeBody({ content });
    this.takeBody = undefined;
  }

  /** Refuses a question that is past its deadline. A question whose head never arrives is dropped, because its gateway has given it up. */
  expire(): void {
    if (this.connection.context.tick <= this.deadline) return;
    if (this.facts) this.connection.context.log.error({ requestId: this.facts.requestId }, 'the decision took too long: the request is refused with 503'); // prettier-ignore
    this.refuse();
  }

  refuse(): void {
    if (this.facts)
      this.answer(
        this.facts,
        refusalOf('access_layer_unavailable', { requestId: this.facts.requestId, readOn: this.connection.context.readOn }),
      );
    else this.end();
  }

  /** Asks for the body in a further exchange, as Kong's plugin does. */
  private readonly readBody = (): Promise<RawBody> => {
    if (this.isOver) return Promise.reject(new Error('this request already has a response'));
    this.deadline = this.connection.context.tick + BODY_TICKS;
    this.connection.send(frame(ASKED.body, this.id));
    return new Promise((resolve) => (this.takeBody = resolve));
  };

  private fail({ requestId }: RequestFacts, err: unknown): void {
    if (this.isOver) return;
    this.connection.context.log.error({ err, requestId }, 'the request could not be decided and was refused');
    this.refuse();
  }

  /** A verdict for a question that is over has no effect. */
  private answer(facts: RequestFacts, verdict: Verdict): void {
    if (this.isOver) return;
    this.connection.send(writeVerdict(this.id, forCaller(verdict, facts.headers), facts));
    this.end();
  }

  private end(): void {
    this.isOver = true;
    this.connection.forget(this.id);
  }
}
