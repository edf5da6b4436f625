import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

export interface NodeOptions {
  databaseUrl: string;
  redisUrl?: string;
  /** As customers see it. */
  name?: string;
  signingKeys: string;
  /** By kong.yml service name. */
  upstreams: Readonly<Record<string, string>>;
}

/** One more gateway with its own plugin server, on stores and services that exist. */
export interface GatewayNode {
  readonly gateway: string;
  readonly pluginServer: ChildProcess;
  stop(): Promise<void>;
}

interface Started {
  readonly child: ChildProcess;
  readonly ready: Record<string, unknown>;
}

/** Starts a built program and waits for the JSON line that says it is ready. */
function startProgram(module: string, env: Record<string, string>): Promise<Started> {
  const child = spawn(process.execPath, [join(ROOT, 'dist', module)], { cwd: ROOT, env: { ...process.env, ...env } });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + String(chunk)).slice(-4_000)));
  return new Promise((done, fail) => {
    let stdout = '';
    child.once('exit', (code) => fail(new Error(`${module} ended with ${code}: ${stderr}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += String(chunk);
      const end = stdout.indexOf('\n');
      if (end >= 0) done({ child, ready: JSON.parse(stdout.slice(0, end)) as Record<string, unknown> });
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await exited;
}

export async function startNode(options: NodeOptions): Promise<GatewayNode> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-node-'));
  const socket = join(folder, 'plugin.sock');
  const pluginServer = await startProgram('plugins/server/main.js', {
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl ?? '',
    TOLLGATE_SIGNING_KEYS: options.signingKeys,
    PLUGIN_SOCKET: socket,
    NODE_NAME: options.name ?? '',
  });
  const gateway = await startProgram('kong/local/main.js', {
    GATEWAY_PORT: '0',
    PLUGIN_SOCKET: socket,
    UPSTREAM_OVERRIDES: JSON.stringify(options.upstreams),
  });
  return {
    gateway: `http://127.0.0.1:${String(gateway.ready['port'])}`,
    pluginServer: pluginServer.child,
    async stop() {
      await end(gateway.child);
      await end(pluginServer.child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
