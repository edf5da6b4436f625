import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type HttpExchange } from '../http/http-exchange';
import { type PluginExit } from '../http/answers';
import { type ArgumentBytes, PdkError, readExit, runPdkCall, type PdkContext } from './pdk';
import { type CallFailure, type PluginCall, type PluginConnection } from './plugin-connection';
import { type BodyError } from '../http/request-body';

/** How a plugin's access phase ended. Only `proceed` lets the request through. */
export type EventOutcome =
  | { kind: 'proceed' }
  | { kind: 'exit'; exit: PluginExit }
  /** The client's body could not be read. */
  | { kind: 'body'; error: BodyError }
  /** The server failed, or made a call that Kong refuses: 500. */
  | { kind: 'failed' };

export interface EventParts {
  exchange: HttpExchange;
  context: PdkContext;
  connection: PluginConnection;
  sequence: number;
  instanceId: number;
}

/** One access event: asks the server, serves its PDK calls in order, and reports how it ended. */
export class EventRun implements PluginCall {
  readonly sequence: number;
  /** Set when this side ends the event. The connection is then closed, and nothing after it counts. */
  private ended: EventOutcome | undefined;

  constructor(
    private readonly parts: EventParts,
    private readonly report: (outcome: EventOutcome | { kind: 'lost'; failure: CallFailure }) => void,
  ) {
    this.sequence = parts.sequence;
  }

  /** RpcCall with cmd_handle_event (field 36). */
  write(to: Writer): void {
    to.int(1, this.sequence);
    const command = to.open(36);
    to.int(1, this.parts.instanceId);
    to.string(2, 'access');
    to.close(command);
  }

  serve(method: string, args: ArgumentBytes, reply: Writer): boolean {
    switch (method) {
      case 'kong.response.exit':
        this.guard(method, () => this.end({ kind: 'exit', exit: readExit(args) }));
        return true;
      case 'kong.request.get_raw_body':
        this.loadBody((to) => this.writeBody(to));
        return false;
      case 'kong.service.request.set_raw_body':
        return this.replaceBody(method, args, reply);
      default:
        this.guard(method, () => runPdkCall(method, { exchange: this.parts.exchange, args, reply, context: this.parts.context }));
        return true;
    }
  }

  done(failure: CallFailure | undefined): void {
    if (this.ended !== undefined) this.report(this.ended);
    else if (failure === undefined) this.report({ kind: 'proceed' });
    else this.report({ kind: 'lost', failure });
  }

  private end(outcome: EventOutcome): void {
    this.ended = outcome;
    this.parts.connection.abort();
  }

  private guard(method: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      const reason = error instanceof PdkError ? error.message : 'unreadable arguments';
      this.parts.context.log('error', 'plugin kit call refused', { method, reason, requestId: this.parts.exchange.id });
      this.end({ kind: 'failed' });
    }
  }

  private replaceBody(method: string, args: ArgumentBytes, reply: Writer): boolean {
    const { exchange, context } = this.parts;
    const call = { exchange, reply, context };
    if (exchange.body.content !== undefined) {
      this.guard(method, () => runPdkCall(method, { ...call, args }));
      return true;
    }
    const bytes = Buffer.from(args.bytes.subarray(args.start, args.end));
    this.loadBody(() => this.guard(method, () => runPdkCall(method, { ...call, args: { bytes, start: 0, end: bytes.length } })));
    return false;
  }

  /** Held frames continue in a later turn of the event loop, so that {@link serve} has returned by then. */
  private loadBody(write: (to: Writer) => void): void {
    this.parts.exchange.body.load((error) => {
      setImmediate(() => {
        if (error !== undefined) this.end({ kind: 'body', error });
        else this.parts.connection.release(write);
      });
    });
  }

  private writeBody(to: Writer): void {
    const content = this.parts.exchange.body.content;
    if (content === undefined) to.string(3, "Can't read request body");
    else if ('content' in content) to.bytes(1, content.content);
    else to.string(2, content.filePath);
  }
}
