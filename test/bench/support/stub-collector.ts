import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';

/** Takes traces and forgets them; its first line is its port. */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end());
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
