import { type Socket } from 'node:net';
import { encode } from '@msgpack/msgpack';
import { drive, requestHeaders, type DriverOptions } from './driver';

// Kong's side of the stock protocol: one MessagePack-RPC request at a time, [0, id, method, [arguments]]. Each PDK call of the plugin
// arrives as the response to the last request, and its result is sent with the next.

/** A Step request, and the offset of the event id's four bytes in it. */
interface Step {
  bytes: Buffer;
  idAt: number;
}

const idMark = 0xdeadbeef;
const eventIdKey = Buffer.from('EventId');

function step(method: string, data: unknown): Step {
  const bytes = Buffer.from(encode([0, 1, `plugin.${method}`, [{ Data: data, EventId: idMark }]]));
  const mark = Buffer.alloc(4);
  mark.writeUInt32BE(idMark);
  return { bytes, idAt: bytes.indexOf(mark) };
}

const steps = [
  step('StepMultiMap', requestHeaders),
  step('Step', 'pin=110001&lang=en'),
  step('Step', '203.0.113.7'),
  step('Step', 'e398404fea6cb07e4af2eb62fa2d4234'),
  step('Step', null),
  step('Step', null),
];

/** The counterpart of driveProtobuf for kong-pdk's own server. */
export async function driveMsgpack(options: DriverOptions): Promise<void> {
  await drive(options, async (first) => {
    const started = await ask(first, 'StartInstance', { Name: 'echo', Config: '{"message":"hi"}' });
    const instanceId = readInteger(started, started.lastIndexOf(Buffer.from('Id')) + 2);
    const event = Buffer.from(encode([0, 1, 'plugin.HandleEvent', [{ InstanceId: instanceId, EventName: 'access' }]]));
    return { begin: (socket, onEnd) => run(socket, event, onEnd), next: (socket) => void socket.write(event) };
  });
}

function run(socket: Socket, event: Buffer, onEnd: () => void): void {
  // Each connection has its own copies, because the event id is written into them.
  const own = steps.map(({ bytes, idAt }) => ({ bytes: Buffer.from(bytes), idAt }));
  let next = 0;
  let eventId = 0;
  socket.on('data', (chunk: Buffer) => {
    // The event's id is in the response to HandleEvent. Every response fits in one chunk, as the stock server itself assumes.
    if (next === 0) eventId = readInteger(chunk, chunk.lastIndexOf(eventIdKey) + eventIdKey.length);
    const each = own[next];
    if (!each) {
      next = 0;
      onEnd();
      return;
    }
    next++;
    each.bytes.writeUInt32BE(eventId, each.idAt);
    socket.write(each.bytes);
  });
  socket.write(event);
}

/** A MessagePack unsigned integer. */
function readInteger(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return first;
  if (first === 0xcc) return bytes.readUInt8(at + 1);
  if (first === 0xcd) return bytes.readUInt16BE(at + 1);
  return bytes.readUInt32BE(at + 1);
}

function ask(socket: Socket, method: string, argument: object): Promise<Buffer> {
  socket.write(encode([0, 1, `plugin.${method}`, [argument]]));
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(Buffer.from(chunk))));
}
