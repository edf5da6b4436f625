import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { encodeFrames, FrameDecoder } from '../../../plugins/server/frames';
import { encodeExitArgs } from '../../../plugins/server/pdk-messages';
import { decodeRpcCall, writeRpcReturn } from '../../../plugins/server/rpc-messages';
import { Writer } from '../../../plugins/server/wire-writer';

// A plugin server in a process of its own that refuses every request: whatever is proxied was let through by the gateway.

const path = process.argv[2] ?? '';
const refusal = encodeFrames([Buffer.from('kong.response.exit'), encodeExitArgs({ status: 401, body: Buffer.from('no key') })]);

function serve(socket: Socket): void {
  const decoder = new FrameDecoder((bytes, start, end) => {
    const call = decodeRpcCall(bytes, start, end);
    if (call.command === 'handle_event') {
      socket.write(refusal);
      return;
    }
    const instanceStatus = { name: 'tracer', instanceId: process.pid, startedAt: 1 };
    const answer = new Writer();
    writeRpcReturn(answer, { sequence: call.sequence, instanceStatus });
    socket.write(encodeFrames([answer.copy()]));
  });
  socket.on('data', (chunk) => decoder.push(chunk));
  socket.on('error', () => socket.destroy());
}

rmSync(path, { force: true });
createServer(serve).listen(path, () => process.send?.('ready'));
