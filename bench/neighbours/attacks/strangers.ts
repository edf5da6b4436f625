import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../../plugins/core/access/api-key';
import { send } from '../../../test/support/http';
import { atRate, DamageCount, shoot } from '../attacker';
import { type Attack, type Damage } from '../observe-attack';

const STATUS = /HTTP\/1\.1 (\d{3}) /;

/** Keeps this many connections busy with `use`, until the signal fires. A closed connection is replaced. */
async function onConnections(
  { url, count, signal }: { url: string; count: number; signal: AbortSignal },
  use: (socket: Socket) => Promise<void>,
): Promise<Damage> {
  const damage = new DamageCount();
  const { hostname, port } = new URL(url);
  const hold = async (): Promise<void> => {
    while (!signal.aborted) {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text = (text + chunk.toString('latin1')).slice(0, 100)));
      socket.on('error', () => undefined);
      const closed = new Promise<void>((done) => socket.once('close', () => done()));
      const ended = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }));
      await Promise.race([use(socket), closed, ended]);
      await Promise.race([closed, ended]);
      socket.destroy();
      damage.add({ status: Number(STATUS.exec(text)?.[1] ?? 0), charged: false });
    }
  };
  await Promise.all(Array.from({ length: count }, hold));
  return damage.total();
}

const FORM = 'Content-Type: application/x-www-form-urlencoded';

/** A refusal from before the flood can still be explained afterwards. */
function historyFlood(): Attack {
  let refused = '';
  return {
    name: 'flood of keys that nobody has',
    paths: ['form'],
    async prepare({ installation, newKey }) {
      const { key } = await newKey({ products: ['api-vahaan'] });
      const answer = await send(`${installation.gatewayUrl}/gst`, { headers: { 'X-API-Key': key } });
      refused = String((answer.json() as { request_id: string }).request_id);
      return (signal) =>
        atRate(200, signal, () => shoot(`${installation.gatewayUrl}/ip`, { headers: { 'x-api-key': generateApiKey('live') } }));
    },
    async verify({ installation }) {
      const { stdout } = await installation.instance.cli('explain', refused);
      expect(stdout).toContain('product_not_authorised');
    },
  };
}

export const strangers: readonly Attack[] = [
  {
    name: 'flood without a key',
    paths: ['form'],
    prepare: ({ installation }) =>
      Promise.resolve((signal) => atRate(300, signal, () => shoot(`${installation.gatewayUrl}/ip?ip=8.8.8.8`))),
  },
  historyFlood(),
  {
    name: '300 idle strangers with forms',
    paths: ['form'],
    prepare: ({ installation: { gatewayUrl } }) =>
      Promise.resolve((signal) =>
        onConnections({ url: gatewayUrl, count: 300, signal }, async (socket) => {
          socket.write(`POST /vahaan HTTP/1.1\r\nHost: gateway\r\n${FORM}\r\nContent-Length: 1000\r\n\r\n`);
          while (!socket.destroyed && !signal.aborted) {
            await sleep(500);
            socket.write('a');
          }
        }),
      ),
  },
  {
    name: 'chunked forms without a key',
    paths: ['form'],
    prepare: ({ installation: { gatewayUrl } }) =>
      Promise.resolve((signal) => {
        const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);
        return onConnections({ url: gatewayUrl, count: 4, signal }, async (socket) => {
          socket.write(`POST /vahaan HTTP/1.1\r\nHost: gateway\r\n${FORM}\r\nTransfer-Encoding: chunked\r\n\r\n`);
          while (!socket.destroyed && !signal.aborted) {
            if (!socket.write(piece)) await Promise.race([new Promise((drained) => socket.once('drain', drained)), sleep(100)]);
          }
        });
      }),
  },
];
