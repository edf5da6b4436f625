// A process that answers on a port and, told so by its arguments, is slow to end or never does.
import { createServer } from 'node:http';

const [, , port, habit] = process.argv;
createServer((_, response) => response.end(String(process.pid))).listen(Number(port), '127.0.0.1', () =>
  console.log(JSON.stringify({ ready: true, port: Number(port) })),
);
process.on('SIGTERM', () => {
  if (habit !== 'stubborn') process.exit(0);
});
