import { createServer, type Socket } from 'node:net';
import { closeFrame, FrameDecoder, openFrame } from '../../../plugins/server/frames';
import { decodeRpcCall, writeRpcReturn, type RpcReturn } from '../../../plugins/server/rpc-messages';
import { encodeInt, encodeString } from '../../../plugins/server/pdk-messages';
import { Writer } from '../../../plugins/server/wire-writer';
import { encodeStruct } from '../../support/gateway/kong-messages';

// Plays the exchanges of the access layer without its decisions: one batch of four reads, then one batch of writes with the end.

const none = Buffer.alloc(0);
const reads = frames([
  'kong.request.get_headers', encodeInt(1000), 'kong.request.get_raw_query', none, 'kong.client.get_forwarded_ip', none,
  'kong.nginx.get_var', encodeString('kong_request_id'),
]); // prettier-ignore
const writes = frames([
  'kong.service.request.clear_header', encodeString('x-api-key'),
  'kong.service.request.set_headers', encodeStruct({ 'X-Tollgate-Context': `v1.${'e'.repeat(300)}.${'s'.repeat(43)}` }), none,
]); // prettier-ignore
const REPLIES = 4;

function frames(parts: readonly (string | Buffer)[]): Buffer {
  const to = new Writer();
  for (const part of parts) frame(to, Buffer.from(part));
  return to.copy();
}

function frame(to: Writer, payload: Buffer): void {
  const at = openFrame(to);
  to.append(payload);
  closeFrame(to, at);
}

function answer(to: Writer, content: RpcReturn): void {
  const at = openFrame(to);
  writeRpcReturn(to, content);
  closeFrame(to, at);
}

function converse(socket: Socket): void {
  let sequence = 0;
  // Replies still due before the next write (reads), and after it (the two setters).
  let awaited = 0;
  let trailing = 0;
  const decoder = new FrameDecoder((bytes, start, end) => {
    if (awaited > 0) {
      awaited -= 1;
      if (awaited > 0) return;
      const to = new Writer();
      answer(to, { sequence });
      socket.write(Buffer.concat([writes, to.copy()]));
      trailing = 2;
      return;
    }
    if (trailing > 0) {
      trailing -= 1;
      return;
    }
    const call = decodeRpcCall(bytes, start, end);
    sequence = call.sequence;
    if (call.command === 'handle_event') {
      awaited = REPLIES;
      socket.write(reads);
    } else {
      const to = new Writer();
      answer(to, { sequence, instanceStatus: { name: 'stub', instanceId: 7, startedAt: 1 } });
      socket.write(to.copy());
    }
  });
  socket.on('data', (chunk) => decoder.push(chunk));
  socket.on('error', () => socket.destroy());
}

createServer(converse).listen(process.argv[2], () => process.stdout.write('ready\n'));
