import { type Socket } from 'node:net';
import { encodeFrames, FrameDecoder } from '../../plugins/server/wire/frames';
import { encodeString } from '../../plugins/server/wire/pdk-messages';
import { decodeRpcReturn, encodeRpcCall } from '../../plugins/server/wire/rpc-messages';
import { drive, requestHeaders, type DriverOptions } from './driver';
import { encodeStruct } from '../../test/support/gateway/kong-messages';

const replies = {
  'kong.request.get_headers': encodeStruct(requestHeaders),
  'kong.request.get_raw_query': encodeString('pin=110001&lang=en'),
  'kong.client.get_forwarded_ip': encodeString('203.0.113.7'),
  'kong.nginx.get_var': encodeString('e398404fea6cb07e4af2eb62fa2d4234'),
} as Record<string, Buffer>;
const readReplies = Object.values(replies);

interface Script {
  event: Buffer;
  readReplies: Buffer;
  /** Replies to the writes of the last event, and starts the next. */
  writeRepliesAndEvent: Buffer;
  /** The same replies in the pieces that Kong writes: length, message, length, message. */
  pieces: Buffer[];
  /** Bytes that the server sends for the reads of one event, and for its writes and end. */
  readBytes: number;
  endBytes: number;
}

/** Drives the echo plugin's events. Everything that is sent was prepared in advance. */
export async function driveProtobuf(options: DriverOptions): Promise<void> {
  await drive(options, async (first) => {
    const script = await prepare(first);
    const answerReads = (socket: Socket): void => {
      if (options.asKongWrites) for (const piece of script.pieces) socket.write(piece);
      else socket.write(script.readReplies);
    };
    return {
      begin: (socket, onEnd) => run(socket, script, { answerReads, onEnd }),
      next: (socket) => void socket.write(script.writeRepliesAndEvent),
    };
  });
}

interface Steps {
  answerReads: (socket: Socket) => void;
  onEnd: () => void;
}

/** The server's bytes are the same for every event, so counting them is enough. */
function run(socket: Socket, script: Script, { answerReads, onEnd }: Steps): void {
  let missing = script.readBytes;
  let reading = true;
  socket.on('data', (chunk) => {
    missing -= chunk.length;
    if (missing > 0) return;
    reading = !reading;
    missing = reading ? script.readBytes : script.endBytes;
    if (reading) onEnd();
    else answerReads(socket);
  });
  socket.write(script.event);
}

/** Starts an instance and runs one event step by step, to learn its form on the wire. */
async function prepare(socket: Socket): Promise<Script> {
  const frames: string[] = [];
  let wake = (): void => {};
  const decoder = new FrameDecoder((bytes, start, end) => frames.push(bytes.toString('latin1', start, end)));
  const listen = (chunk: string | Buffer): void => {
    decoder.push(Buffer.from(chunk));
    wake();
  };
  socket.on('data', listen);
  const until = async (count: number): Promise<string[]> => {
    while (frames.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return frames.splice(0, count);
  };
  const config = Buffer.from('{"message":"hi"}');
  socket.write(encodeFrames([encodeRpcCall({ sequence: 1, command: 'start_instance', name: 'echo', config })]));
  const [answer] = await until(1);
  const instanceId = decodeRpcReturn(Buffer.from(answer ?? '', 'latin1')).instanceStatus?.instanceId ?? 0;
  const event = encodeFrames([encodeRpcCall({ sequence: 2, command: 'handle_event', instanceId, eventName: 'access' })]);
  socket.write(event);
  const reads = await until(2 * readReplies.length);
  socket.write(encodeFrames(readReplies));
  const end = await until(2 * 2 + 2);
  const writeReplies = encodeFrames([Buffer.alloc(0), Buffer.alloc(0)]);
  socket.write(writeReplies);
  socket.off('data', listen);
  const size = (each: string[]): number => each.reduce((sum, frame) => sum + 4 + frame.length, 0);
  return {
    event,
    readReplies: encodeFrames(readReplies),
    pieces: readReplies.flatMap((reply) => [encodeFrames([reply]).subarray(0, 4), reply]),
    writeRepliesAndEvent: Buffer.concat([writeReplies, event]),
    readBytes: size(reads),
    endBytes: size(end),
  };
}
