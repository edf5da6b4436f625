import { type RpcReturn } from '../../../plugins/server/wire/rpc-messages';
import { type Writer } from '../../../plugins/server/wire/wire-writer';
import { type PluginBinding } from '../config/kong-yml';
import { EventRun, type EventOutcome } from './event-run';
import { type HttpExchange } from '../http/http-exchange';
import { type PdkContext } from './pdk';
import { type CallFailure, type PluginCall, type PluginConnection } from './plugin-connection';
import { PluginPool } from './plugin-pool';

export interface PluginClientOptions {
  socketPath: string;
  /** Maximum wait for the server's next bytes. Kong's is 60 s. */
  timeoutMs: number;
  context: PdkContext;
}

/**
 * How often an event is repeated after the server closed the connection. Kong repeats it for ever, so the client gets nothing and the
 * worker spins. Five tries over about half a second outlast the first refusals of a restarting server; then the client gets an error.
 */
const MAX_RESTARTS = 5;
const RESTART_DELAY_MS = 15;

interface Instance {
  seq: number;
  id: number | undefined;
  waiting: ((failure: CallFailure | undefined) => void)[];
}

/** Kong's side of the plugin server protocol: connections, plugin instances, events. */
export class PluginClient {
  private readonly pool: PluginPool;
  private readonly instances = new Map<string, Instance>();
  /** Kong's counter starts at 1 and is incremented before use. */
  private sequence = 1;
  private closed = false;

  constructor(private readonly options: PluginClientOptions) {
    this.pool = new PluginPool(options);
  }

  /**
   * Runs the access phase of one plugin. `done` gets `proceed` only after the server's whole reply to the event was read. Anything else
   * ends in `exit` or `failed`.
   */
  access(binding: PluginBinding, exchange: HttpExchange, done: (outcome: EventOutcome) => void): void {
    this.attempt({ binding, exchange, done, restarts: 0 });
  }

  close(): void {
    this.closed = true;
    this.pool.close();
  }

  private attempt(task: AccessTask): void {
    const instance = this.instanceOf(task.binding);
    if (instance.id !== undefined) {
      this.runEvent(task, instance, instance.id);
      return;
    }
    instance.waiting.push((failure) => {
      if (failure === undefined && instance.id !== undefined) this.runEvent(task, instance, instance.id);
      else this.retryOrFail(task, failure ?? 'closed');
    });
    if (instance.waiting.length === 1) this.startInstance(task.binding, instance);
  }

  private runEvent(task: AccessTask, instance: Instance, instanceId: number): void {
    this.pool.take((connection) => {
      if (connection === undefined) this.retryOrFail(task, 'timeout');
      else this.runEventOn(connection, { task, instance, instanceId });
    });
  }

  private runEventOn(
    connection: PluginConnection,
    { task, instance, instanceId }: { task: AccessTask; instance: Instance; instanceId: number },
  ): void {
    const parts = { exchange: task.exchange, context: this.options.context, connection, sequence: ++this.sequence, instanceId };
    const run = new EventRun(parts, (outcome) => {
      if (outcome.kind !== 'lost') {
        task.done(outcome);
        return;
      }
      if (outcome.failure === 'closed' && instance.id === instanceId) instance.id = undefined;
      this.retryOrFail(task, outcome.failure);
    });
    connection.start(run);
  }

  private retryOrFail(task: AccessTask, failure: CallFailure): void {
    const log = this.options.context.log;
    if (failure !== 'closed' || task.restarts >= MAX_RESTARTS || this.closed) {
      // A closing gateway cuts its own connections, which is not a failure of the server.
      if (!this.closed) log('error', 'plugin server did not decide', { plugin: task.binding.name, failure, requestId: task.exchange.id });
      task.done({ kind: 'failed' });
      return;
    }
    log('warn', 'plugin instance lost, starting it again', { plugin: task.binding.name, requestId: task.exchange.id });
    task.restarts += 1;
    setTimeout(() => this.attempt(task), RESTART_DELAY_MS * 2 ** (task.restarts - 1) - RESTART_DELAY_MS);
  }

  private startInstance(binding: PluginBinding, instance: Instance): void {
    const started = (failure: CallFailure | undefined, id: number | undefined): void => {
      instance.id = id;
      const waiting = instance.waiting.splice(0);
      for (const go of waiting) go(failure ?? (id === undefined ? 'invalid' : undefined));
    };
    this.pool.take((connection) => {
      if (connection === undefined) {
        started('timeout', undefined);
        return;
      }
      const config = Buffer.from(JSON.stringify({ __seq__: instance.seq, ...binding.config }));
      const call: PluginCall = {
        sequence: ++this.sequence,
        serve: undefined,
        write: (to) => writeStartInstance(to, { sequence: call.sequence, name: binding.name, config }),
        done: (failure, answer) => started(failure, failure === undefined ? instanceIdOf(answer) : undefined),
      };
      connection.start(call);
    });
  }

  private instanceOf(binding: PluginBinding): Instance {
    let instance = this.instances.get(binding.identity);
    if (instance === undefined) {
      instance = { seq: this.instances.size + 2, id: undefined, waiting: [] };
      this.instances.set(binding.identity, instance);
    }
    return instance;
  }
}

interface AccessTask {
  binding: PluginBinding;
  exchange: HttpExchange;
  done: (outcome: EventOutcome) => void;
  restarts: number;
}

/** RpcCall with cmd_start_instance (field 33), in the order in which Kong writes it. */
function writeStartInstance(to: Writer, start: { sequence: number; name: string; config: Buffer }): void {
  to.int(1, start.sequence);
  const command = to.open(33);
  to.string(1, start.name);
  to.bytes(2, start.config);
  to.close(command);
}

function instanceIdOf(answer: RpcReturn | undefined): number | undefined {
  return answer?.instanceStatus?.instanceId;
}
