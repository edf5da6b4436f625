import { createPluginServer } from '../../plugins/server/plugin-server';
import * as echo from './echo-plugin/echo';

// The process that the benchmark measures: our server with the echo plugin and nothing else. Its argument is the socket's path.

const quiet = (): void => {};
const server = createPluginServer({
  plugin: echo,
  socketPath: process.argv[2] ?? '',
  log: { info: quiet, warn: quiet, error: (details, message) => console.error(message, details) },
});

process.once('SIGTERM', () => void server.close({ graceMs: 100 }).then(() => process.exit(0)));
void server.listen();
