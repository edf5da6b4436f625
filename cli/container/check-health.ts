import { connect } from 'node:net';
import { Client } from '@grpc/grpc-js';
import { encodeFrames, FrameDecoder } from '../../plugins/server/wire/frames';
import { decodeRpcReturn, encodeRpcCall } from '../../plugins/server/wire/rpc-messages';
import { readSettings } from '../../plugins/core/settings';
import { plainGet } from '../../services/kit/plain-get';
import { HEALTH_SERVICE } from '../../services/kit/worker/load-proto';
import { workerTlsSettings } from '../../services/kit/worker/worker-tls';
import { ownWorkerCredentials } from '../../services/kit/worker/worker-wire';
import { type MutualTls } from '../../services/kit/mutual-tls';
import { readSecrets } from './read-secrets';

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds, shorter than the time-out of the health checks in docker-compose.yml, so that the reason is reported. */
const ANSWER_MS = 4_000;
const MAX_ANSWER_BYTES = 65_536;
const LOOPBACK = '127.0.0.1';

/** Sends the message that Kong would send: a stopped process still accepts connections, but does not respond. */
function askPluginServer(socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    const decoder = new FrameDecoder((bytes, start, end) => {
      const { sequence } = decodeRpcReturn(bytes, start, end);
      socket.destroy();
      if (sequence === 1) resolve();
      else reject(new Error('the plugin server sent an unexpected reply'));
    }, MAX_ANSWER_BYTES);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the plugin server closed the connection')));
    socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    socket.write(encodeFrames([encodeRpcCall({ sequence: 1, command: 'get_plugin_names' })]));
  });
}

async function askHttp(url: string): Promise<void> {
  const { status } = await plainGet(url, { signal: AbortSignal.timeout(ANSWER_MS), maxBytes: MAX_ANSWER_BYTES });
  if (status !== 200) throw new Error(`it responded with ${status}`);
}

/** The worker's own settings, including those read from files at its start. */
function workerTlsOf(env: Environment): MutualTls | undefined {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('WORKER_TLS_') || name === 'CREDENTIALS_DIR'));
  return readSettings({ tls: workerTlsSettings }, { ...own, ...readSecrets(own) }).tls;
}

/** Calls grpc.health.v1, with the worker's own TLS. */
function askWorker(address: string, env: Environment): Promise<void> {
  const check = HEALTH_SERVICE['Check'];
  if (!check) throw new Error('grpc.health.v1 has no Check');
  const client = new Client(address, ownWorkerCredentials(workerTlsOf(env)));
  return new Promise<void>((resolve, reject) => {
    const { path, requestSerialize, responseDeserialize } = check;
    const deadline = Date.now() + ANSWER_MS;
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: '' }, { deadline }, (error, answer: unknown) => {
      if (error) return reject(error);
      const status: unknown = (answer as { status?: unknown } | undefined)?.status;
      return status === 'SERVING' ? resolve() : reject(new Error(`it is ${String(status)}`));
    });
  }).finally(() => client.close());
}

function ask(role: string | undefined, env: Environment): Promise<void> {
  switch (role) {
    case 'plugin-server':
      return askPluginServer(env['PLUGIN_SOCKET'] ?? '');
    case 'service':
    case 'dashboard':
      return askHttp(`http://${LOOPBACK}:${env['PRIVATE_PORT'] ?? ''}/health`);
    case 'worker':
      return askWorker(`${LOOPBACK}:${env['WORKER_PORT'] ?? ''}`, env);
    case 'sandbox':
      return askHttp(`http://${LOOPBACK}:${env['SANDBOX_PORT'] ?? ''}/`);
    default:
      return Promise.reject(new Error('usage: health plugin-server | service | dashboard | worker | sandbox'));
  }
}

/**
 * Checks that this container's program responds.
 * @throws Error when it does not, or not in time
 */
export async function checkHealth(role: string | undefined, env: Environment): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ANSWER_MS} ms`)), ANSWER_MS);
  });
  try {
    await Promise.race([ask(role, env), late]);
  } finally {
    clearTimeout(timer);
  }
}
