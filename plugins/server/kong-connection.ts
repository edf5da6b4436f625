import type { Socket } from 'node:net';
import { EventExchange, type EventExchangePort } from './event-exchange';
import { closeFrame, FrameDecoder, openFrame, encodeFrames } from './wire/frames';
import type { Instance, Instances } from './instances';
import { createKong } from './kong';
import {
  decodeRpcCall,
  writeRpcReturn,
  type RpcCall,
  type RpcReturn,
  type InstanceStatus,
  type PluginInfoMessage,
} from './wire/rpc-messages';
import { Writer } from './wire/wire-writer';
import type { PluginModule } from '../core/access/kong-pdk';
import type { ServerLog } from './log';
import { pluginSchema } from './plugin-info';
import { encodeExitArgs } from './wire/pdk-messages';

/** State that all connections of a server share. */
export interface ConnectionContext extends CommandContext {
  /** An event that takes longer is refused with 503. */
  eventDeadlineMs: number;
  /** The same limit while Kong waits for the client's body. */
  bodyDeadlineMs: number;
  maxFrameBytes: number;
  counters: Counters;
}

/** Totals since the server was created. `abandoned` counts events whose Kong went away. */
export interface Counters {
  events: number;
  failed: number;
  overdue: number;
  abandoned: number;
  protocolErrors: number;
}

/** Milliseconds that the peer has to close a connection that we ended, before it is cut. */
const lingerMs = 1000;
const endOfEvent = Buffer.alloc(4);

/**
 * One connection of Kong, with one call at a time. Each call gets its whole reply before the next. During an event the connection never
 * closes, because Kong would take that for a lost instance and repeat the event for ever. Any failure becomes a 503 exit.
 */
export class KongConnection implements EventExchangePort {
  readonly reads = new Writer();
  readonly held = new Writer();
  private readonly decoder: FrameDecoder;
  private exchange: EventExchange | undefined;
  private sequence = 0;
  /** Replies to the writes of ended events that Kong still has to send. */
  private repliesToDiscard = 0;
  private timer: NodeJS.Timeout | undefined;
  private timerMs = 0;
  /** True while this connection's call waits for another process. */
  private isAsking = false;
  private draining = false;
  private closing = false;

  constructor(
    private readonly socket: Socket,
    private readonly context: ConnectionContext,
  ) {
    this.decoder = new FrameDecoder((bytes, start, end) => this.onFrame(bytes, start, end), context.maxFrameBytes);
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    // A vanished peer is ordinary. `close` follows and cleans up.
    socket.on('error', () => {});
    socket.on('drain', () => socket.resume());
    socket.on('close', () => this.onClose());
  }

  get isRunning(): boolean {
    return this.exchange !== undefined;
  }

  /** Ends the connection as soon as no call is running on it. */
  drain(): void {
    this.draining = true;
    if (!this.exchange && !this.isAsking && !this.decoder.isMidFrame) this.close();
  }

  /** Refuses the running call and ends the connection. */
  abort(): void {
    this.draining = true;
    if (this.exchange) this.refuse(this.exchange);
    this.close();
  }

  flushSoon(): void {
    queueMicrotask(this.flush);
  }

  waitForBody(): void {
    this.armDeadline(this.context.bodyDeadlineMs);
  }

  bodyArrived(): void {
    this.armDeadline(this.context.eventDeadlineMs);
  }

  private readonly flush = (): void => {
    if (!this.exchange || this.reads.length === 0) return;
    this.exchange.markSent();
    this.send(this.reads);
  };

  /** Reuses the writer's memory only if the system took all of it at once. */
  private send(from: Writer): void {
    this.socket.write(from.view());
    from.reset(this.socket.writableLength > 0);
  }

  private onData(chunk: Buffer): void {
    try {
      this.decoder.push(chunk);
    } catch (error) {
      this.onProtocolError(error);
    }
  }

  private onFrame(bytes: Buffer, start: number, end: number): void {
    const { exchange } = this;
    if (exchange) {
      if (exchange.awaitsReply) exchange.answer(bytes, start, end);
      else this.onProtocolError(new Error('a frame that answers nothing'));
    } else if (this.repliesToDiscard > 0) this.repliesToDiscard--;
    else if (this.isAsking) this.onProtocolError(new Error('a call before the answer to the last'));
    else this.onCall(decodeRpcCall(bytes, start, end));
  }

  private onCall(call: RpcCall): void {
    if (call.command === 'handle_event') this.onEvent(call);
    else if (call.command === 'unknown') this.onProtocolError(new Error('a call without a known command'));
    else {
      const answer = answerCommand(call, this.context);
      if (answer instanceof Promise) this.whenKnown(answer, (known) => this.reply(known));
      else this.reply(answer);
    }
  }

  /** Kong waits for the reply to its call, and sends nothing meanwhile. */
  private whenKnown<T>(value: Promise<T>, goOn: (known: T) => void): void {
    this.isAsking = true;
    void value.then((known) => {
      this.isAsking = false;
      if (!this.closing && !this.socket.destroyed) goOn(known);
    });
  }

  private reply(answer: RpcReturn): void {
    const frame = openFrame(this.held);
    writeRpcReturn(this.held, answer);
    closeFrame(this.held, frame);
    this.send(this.held);
    if (this.draining) this.close();
    // A peer that does not read its replies gets no further ones, so that they do not fill our memory.
    else if (this.socket.writableNeedDrain) this.socket.pause();
  }

  private onEvent(call: Extract<RpcCall, { command: 'handle_event' }>): void {
    const { instances } = this.context;
    const instance = instances.find(call.instanceId);
    if (instance || !instances.areShared) this.runEvent(call, instance);
    else this.whenKnown(instances.findElsewhere(call.instanceId), (found) => this.runEvent(call, found));
  }

  private runEvent(call: Extract<RpcCall, { command: 'handle_event' }>, instance: Instance | undefined): void {
    if (!instance) {
      // The one case in which closing is correct: Kong starts the instance again and repeats the event on it.
      this.context.log.info({ instance: call.instanceId }, 'event for an unknown plugin instance: Kong will start it again');
      return this.close();
    }
    this.sequence = call.sequence;
    this.context.counters.events++;
    const exchange = new EventExchange(this);
    this.exchange = exchange;
    if (call.eventName !== 'access') return this.endEvent(exchange);
    this.armDeadline(this.context.eventDeadlineMs);
    try {
      Promise.resolve(instance.access(createKong(exchange))).then(
        () => this.finish(exchange),
        (error: unknown) => this.fail(exchange, error),
      );
    } catch (error) {
      this.fail(exchange, error);
    }
  }

  private finish(exchange: EventExchange): void {
    if (this.exchange === exchange) this.endEvent(exchange);
  }

  private fail(exchange: EventExchange, error: unknown): void {
    if (this.exchange !== exchange) return;
    this.context.counters.failed++;
    this.context.log.error({ err: error, requestId: exchange.requestId }, 'the plugin failed: the request is refused with 503');
    this.refuse(exchange);
  }

  private readonly onDeadline = (): void => {
    if (!this.exchange) return;
    this.context.counters.overdue++;
    const { requestId } = this.exchange;
    this.context.log.error({ deadlineMs: this.timerMs, requestId }, 'the plugin took too long: the request is refused with 503');
    this.refuse(this.exchange);
  };

  /** Ends the event with a 503, or with the plugin's own exit if there is one. */
  private refuse(exchange: EventExchange): void {
    if (!exchange.hasExited) exchange.replaceWrites(unavailableFrames);
    this.endEvent(exchange);
  }

  private endEvent(exchange: EventExchange): void {
    this.exchange = undefined;
    this.reads.reset();
    this.repliesToDiscard += exchange.end();
    this.held.append(endOfEvent);
    this.reply({ sequence: this.sequence });
  }

  /** One timer for the connection's life, which each event postpones. It is never cancelled, and has no effect when idle. */
  private armDeadline(ms: number): void {
    if (this.timer && this.timerMs === ms) {
      this.timer.refresh();
      return;
    }
    clearTimeout(this.timer);
    this.timerMs = ms;
    this.timer = setTimeout(this.onDeadline, ms).unref();
  }

  /** The bytes are not Kong's protocol, so nothing after them can be trusted either. */
  private onProtocolError(error: unknown): void {
    this.context.counters.protocolErrors++;
    const { requestId } = this.exchange ?? {};
    this.context.log.warn({ err: error, duringEvent: this.isRunning, requestId }, 'not the plugin protocol: the connection is ended');
    if (this.exchange) this.refuse(this.exchange);
    this.close();
  }

  private close(): void {
    if (this.closing) return;
    this.closing = true;
    this.decoder.stop();
    // Half a close: bytes that Kong may just have sent are read and dropped, so that Kong sees an orderly end instead of a reset.
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), lingerMs).unref();
  }

  private onClose(): void {
    clearTimeout(this.timer);
    this.decoder.stop();
    if (!this.exchange) return;
    this.context.counters.abandoned++;
    this.exchange.end();
    this.exchange = undefined;
  }
}

interface CommandContext {
  plugin: PluginModule;
  instances: Instances;
  log: ServerLog;
  /** When this server loaded the plugin, in seconds since 1970. */
  startedAt: number;
}

type Command = Exclude<RpcCall, { command: 'handle_event' | 'unknown' }>;

/** Replies to every call except events. A call for an unknown plugin or instance gets an empty reply. */
function answerCommand(call: Command, context: CommandContext): RpcReturn | Promise<RpcReturn> {
  const { plugin, instances, log } = context;
  const { sequence } = call;
  switch (call.command) {
    case 'start_instance': {
      const started = (instance: Instance): RpcReturn => {
        log.info({ instance: instance.id, plugin: call.name }, 'plugin instance started');
        return { sequence, instanceStatus: statusOf(instance) };
      };
      if (instances.areShared) return instances.startForAll(call.name, call.config).then(started);
      return started(instances.start(call.name, call.config));
    }
    case 'close_instance':
      if (instances.close(call.instanceId)) log.info({ instance: call.instanceId }, 'plugin instance closed');
      return { sequence };
    case 'get_instance_status': {
      const instance = instances.find(call.instanceId);
      return instance ? { sequence, instanceStatus: statusOf(instance) } : { sequence };
    }
    case 'get_plugin_names':
      return { sequence, pluginNames: [plugin.Name] };
    case 'get_plugin_info':
      return call.name === plugin.Name ? { sequence, pluginInfo: describe(plugin, context.startedAt) } : { sequence };
  }
}

function statusOf(instance: Instance): InstanceStatus {
  return { name: instance.name, instanceId: instance.id, startedAt: instance.startedAt };
}

function describe(plugin: PluginModule, startedAt: number): PluginInfoMessage {
  const { Name, Version, Priority } = plugin;
  const schema = JSON.stringify(pluginSchema(plugin));
  return { name: Name, version: Version, priority: Priority, phases: ['access'], schema, updatedAt: startedAt, loadedAt: startedAt };
}

/** The response when the access decision could not be made. The cause is only in the log. */
const problem = {
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'Access to this API could not be checked. Please try again in a moment.',
  code: 'access_layer_unavailable',
};

/** `response.exit(503)` with the problem as its body, as the two frames of one PDK call. */
const unavailableFrames = encodeFrames([
  Buffer.from('kong.response.exit'),
  encodeExitArgs({
    status: problem.status,
    body: Buffer.from(JSON.stringify(problem)),
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' },
  }),
]);
