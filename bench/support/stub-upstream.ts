import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** A service that responds at once with 200 bytes. */
const body = Buffer.from(JSON.stringify({ status: 'success', data: 'x'.repeat(160) }));
const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`${String((server.address() as AddressInfo).port)}\n`));
