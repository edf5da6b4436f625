import { refusalOf } from '../../access-layer/held-request';
import { forCaller } from '../../core/access/grpc-refusal';
import { type RawBody } from '../../core/access/kong-pdk';
import { type RequestFacts } from '../../core/access/request-variable';
import { type Verdict } from '../../core/access/verdict';
import { ASKED, frame, writeVerdict } from './frames';
import { BODY_TICKS, DECISION_TICKS, type LaneContext } from './lane-context';

/** What a question needs from its connection. */
export interface QuestionPlace {
  readonly context: LaneContext;
  send(frames: string): void;
  /** The question has its verdict. */
  forget(id: number): void;
}

/** One question, until its verdict. Only a verdict admits its request. */
export class LaneQuestion {
  private facts: RequestFacts | undefined;
  private deadline: number;
  private takeBody: ((body: RawBody) => void) | undefined;
  private isOver = false;

  constructor(
    private readonly id: number,
    private readonly route: string,
    private readonly place: QuestionPlace,
  ) {
    this.deadline = place.context.tick + DECISION_TICKS;
  }

  /** Asks the gateway for what the variable does not contain. */
  askForHead(): void {
    this.place.send(frame(ASKED.head, this.id));
  }

  /** @throws Error if the request is known already */
  decide(facts: RequestFacts): void {
    if (this.facts) throw new Error('a head that nobody asked for');
    this.facts = facts;
    this.deadline = this.place.context.tick + DECISION_TICKS;
    try {
      const verdict = this.place.context.routes.findByText(this.route).decide({ ...facts, readBody: this.readBody });
      verdict.then((found) => this.answer(facts, found), (error: unknown) => this.fail(facts, error)); // prettier-ignore
    } catch (error) {
      this.fail(facts, error);
    }
  }

  /** @throws Error if nobody asked for the body */
  onBody(content: Buffer): void {
    if (!this.takeBody) throw new Error('a body that nobody asked for');
    this.deadline = this.place.context.tick + DECISION_TICKS;
    this.takeBody({ content });
    this.takeBody = undefined;
  }

  /** Refuses a question that is past its deadline. A question whose head never arrives is dropped, because its gateway has given it up. */
  expire(): void {
    if (this.place.context.tick <= this.deadline) return;
    if (this.facts) this.place.context.log.error({ requestId: this.facts.requestId }, 'the decision took too long: the request is refused with 503'); // prettier-ignore
    this.refuse();
  }

  refuse(): void {
    if (this.facts)
      this.answer(
        this.facts,
        refusalOf('access_layer_unavailable', { requestId: this.facts.requestId, readOn: this.place.context.readOn }),
      );
    else this.end();
  }

  /** Asks for the body in a further exchange, as Kong's plugin does. */
  private readonly readBody = (): Promise<RawBody> => {
    if (this.isOver) return Promise.reject(new Error('this request already has a response'));
    this.deadline = this.place.context.tick + BODY_TICKS;
    this.place.send(frame(ASKED.body, this.id));
    return new Promise((resolve) => (this.takeBody = resolve));
  };

  private fail({ requestId }: RequestFacts, err: unknown): void {
    if (this.isOver) return;
    this.place.context.log.error({ err, requestId }, 'the request could not be decided and was refused');
    this.refuse();
  }

  /** A verdict for a question that is over has no effect. */
  private answer(facts: RequestFacts, verdict: Verdict): void {
    if (this.isOver) return;
    this.place.send(writeVerdict(this.id, forCaller(verdict, facts.headers), facts));
    this.end();
  }

  private end(): void {
    this.isOver = true;
    this.place.forget(this.id);
  }
}
