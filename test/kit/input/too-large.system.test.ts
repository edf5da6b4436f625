import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { contextFor, proofHeader } from '../context';
import { createHarness } from '../harness';
import { sampleService } from '../service/sample-service';

/** More than the buffers of both sockets hold: whoever stops reading is noticed. */
const PIECES = 320;
const PIECE = Buffer.alloc(65_536, 'a');
const FORM = 'application/x-www-form-urlencoded';
const PART = '--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\n';
const FILE = '--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

const { app } = createHarness(sampleService, { deps: { act: () => ({}) } });
let port: number;
beforeAll(async () => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as AddressInfo);
});
afterAll(() => app.close());

async function write(socket: Socket, bytes: string | Buffer): Promise<void> {
  if (!socket.write(bytes)) await once(socket, 'drain');
}

/** Sends a request to its last byte before it looks for the answer, as a gateway may. */
async function sendWhole(path: string, type: string, { start = '', chunked = false }): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const proof = Object.entries(proofHeader(contextFor('api-gst'))).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${start.length + PIECES * PIECE.length}`;
  try {
    await write(socket, `POST ${path} HTTP/1.1\r\nHost: x\r\n${proof.join('')}Content-Type: ${type}\r\n${length}\r\n\r\n`);
    const send = (bytes: string | Buffer) =>
      write(
        socket,
        chunked ? Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]) : bytes,
      );
    if (start !== '') await send(start);
    for (let sent = 0; sent < PIECES; sent++) await send(PIECE);
    if (chunked) await write(socket, '0\r\n\r\n');
    while (!answer.includes('request_id')) await once(socket, 'data');
    return answer;
  } finally {
    socket.destroy();
  }
}

it.each<[string, string, string, { start?: string; chunked?: boolean }]>([
  ['a form', '/gst', FORM, {}],
  ['a form of unknown length', '/gst', FORM, { chunked: true }],
  ['a multipart form', '/gst', 'multipart/form-data; boundary=XX', { start: PART }],
  ['a multipart form of unknown length', '/gst', 'multipart/form-data; boundary=XX', { start: PART, chunked: true }],
  ['an upload', '/upload', 'application/octet-stream', {}],
  ['an upload of unknown length', '/upload', 'application/octet-stream', { chunked: true }],
  ['a multipart upload of unknown length', '/upload', 'multipart/form-data; boundary=XX', { start: FILE, chunked: true }],
])('%s over the limit is a 413 to a sender who is not done yet', async (_what, path, type, body) => {
  expect(await sendWhole(path, type, body)).toMatch(/^HTTP\/1\.1 413 /);
});
