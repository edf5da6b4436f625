import { connect, type Socket } from 'node:net';
import { REQUEST_VARIABLE_PROPERTY } from '../../../plugins/core/access/request-variable';
import { encodeFrames, FrameDecoder } from '../../../plugins/server/frames';
import { encodeString } from '../../../plugins/server/pdk-messages';
import { decodeRpcReturn, encodeRpcCall } from '../../../plugins/server/rpc-messages';

/** Kong's own names of what may come back during an event; anything else is a write, which is answered with nothing. */
const READ = 'kong.nginx.get_var';
const EXIT = 'kong.response.exit';
const nothing = encodeFrames([Buffer.alloc(0)]);

/** What kong.conf's variable says of one request. */
export interface BenchRequest {
  readonly key?: string;
  readonly requestId: string;
}

/** The line of kong.conf with its variables filled in, as nginx does. */
function requestVariable({ key = '', requestId }: BenchRequest): string {
  const known: Record<string, string> = {
    remote_addr: '127.0.0.1',
    request_length: '400',
    http_x_api_key: key,
    args: 'pincode=110001',
    kong_request_id: requestId,
  };
  const format = /"(.*)"$/.exec(REQUEST_VARIABLE_PROPERTY)?.[1] ?? '';
  return format.replaceAll('\\n', '\n').replace(/\$([a-z_]+)/g, (_whole, name: string) => known[name] ?? '');
}

function open(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => resolve(socket)).once('error', reject);
  });
}

/** Starts the access layer as Kong does for a block of kong.yml. @returns the instance's id, good on every connection */
export async function startInstance(socketPath: string, config: object): Promise<number> {
  const socket = await open(socketPath);
  const call = encodeRpcCall({ sequence: 1, command: 'start_instance', name: 'access-layer', config: Buffer.from(JSON.stringify(config)) });
  const answer = new Promise<number>((resolve, reject) => {
    const decoder = new FrameDecoder((bytes, start, end) => resolve(decodeRpcReturn(bytes, start, end).instanceStatus?.instanceId ?? 0));
    socket.on('data', (chunk: Buffer) => decoder.push(chunk)).once('close', () => reject(new Error('the plugin server hung up')));
  });
  socket.write(encodeFrames([call]));
  const id = await answer;
  socket.destroy();
  return id;
}

export interface EventsOptions {
  readonly socketPath: string;
  readonly instanceId: number;
  readonly connections: number;
  /** Milliseconds that each connection rests after a request: given, the load is the same whatever the server can do. */
  readonly restMs?: number;
  /** The next request, or undefined when there are no more. */
  readonly next: () => BenchRequest | undefined;
}

/** How many of the requests went on to their service, and how many ended at the access layer. */
export interface EventsOutcome {
  admitted: number;
  refused: number;
}

/**
 * Plays Kong's side of access events, each connection one event at a time, until there are no more requests. As Kong does, it writes length and
 * message apart, and leaves a connection on which a request was refused.
 */
export async function runEvents(options: EventsOptions): Promise<EventsOutcome> {
  const outcome = { admitted: 0, refused: 0 };
  const lane = async (): Promise<void> => {
    let request = options.next();
    while (request) {
      const socket = await open(options.socketPath);
      request = await runOnConnection(socket, request, options, outcome);
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, lane));
  return outcome;
}

/** @returns the request that the next connection starts with */
function runOnConnection(
  socket: Socket,
  first: BenchRequest,
  { instanceId, next, restMs }: EventsOptions,
  outcome: EventsOutcome,
): Promise<BenchRequest | undefined> {
  const event = encodeRpcCall({ sequence: 2, command: 'handle_event', instanceId, eventName: 'access' });
  const write = (message: Buffer): void => {
    const frame = encodeFrames([message]);
    socket.write(frame.subarray(0, 4));
    socket.write(frame.subarray(4));
  };
  return new Promise((resolve, reject) => {
    let request = first;
    let method: string | undefined;
    let isOver = false;
    const end = (following: BenchRequest | undefined): void => {
      socket.removeAllListeners('close');
      resolve(following);
    };
    const onEventEnd = (): void => {
      isOver = false;
      outcome.admitted++;
      const following = next();
      if (!following) return end(undefined);
      request = following;
      if (restMs === undefined) write(event);
      else setTimeout(write, restMs, event);
    };
    const onCall = (name: string): void => {
      if (name === EXIT) {
        outcome.refused++;
        decoder.stop();
        end(next());
      } else if (name === READ) write(encodeString(requestVariable(request)));
      else socket.write(nothing);
    };
    // Method name, its argument, and so on; an empty name, and what ends the event.
    const decoder = new FrameDecoder((bytes, start, stop) => {
      if (isOver) return onEventEnd();
      if (method !== undefined) {
        const name = method;
        method = undefined;
        return onCall(name);
      }
      if (start === stop) isOver = true;
      else method = bytes.toString('latin1', start, stop);
    });
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    socket.once('close', () => reject(new Error('the plugin server hung up during an event')));
    write(event);
  });
}
