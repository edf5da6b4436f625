import { type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { type GatewayKind } from '../../../kong/gateways/render';
import { ensurePackages } from '../../support/debian-packages';
import { endProgram, startProgram } from '../../support/system/program';

export interface GatewayOptions {
  readonly kind: GatewayKind;
  /** Of the plugin server. The lane's is beside it. */
  readonly forwardAuthSocket: string;
  /** URLs by the names that services have in kong.yml. */
  readonly services: Readonly<Record<string, string>>;
  /** Its path; the example catalogue's unless given. */
  readonly kongYml?: string;
  /** Where it tells what was answered; nowhere unless given. */
  readonly answersTo?: string | undefined;
}

const ROOT = resolve(__dirname, '../../..');

/** A real gateway with the shipped configuration, in front of services and a plugin server that exist. */
export interface RunningGateway {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything that it wrote to its logs. */
  logs(): string;
  stop(): Promise<void>;
}

/** nginx with the module for Lua, and the part of it that is written in Lua. */
export const LUA_FILES = ['nginx', '/usr/lib/nginx/modules/ngx_http_lua_module.so', '/usr/share/lua/5.1/resty/core.lua'] as const;

/** @throws Error that says which Debian package is missing */
export async function startGateway({
  kind,
  forwardAuthSocket,
  services,
  kongYml = join(ROOT, 'kong', 'kong.yml'),
  answersTo = '127.0.0.1:9',
}: GatewayOptions): Promise<RunningGateway> {
  await ensurePackages(kind === 'nginx-lua' ? LUA_FILES : [kind], 'The tests of other gateways');
  const folder = mkdtempSync(join(tmpdir(), `tollgate-${kind}-`));
  const [port = 0] = await findFreePorts(1);
  const { child } = await startProgram('kong/gateways/main.js', {
    env: {
      GATEWAY_KIND: kind,
      GATEWAY_PORT: String(port),
      GATEWAY_DIR: folder,
      FORWARD_AUTH_LISTEN: forwardAuthSocket,
      LANE_LISTEN: join(dirname(forwardAuthSocket), 'lane.sock'),
      KONG_YML: kongYml,
      ANSWERS_TO: answersTo,
      UPSTREAM_OVERRIDES: JSON.stringify(services),
    },
  });
  let output = '';
  const collect = (chunk: Buffer): void => void (output += String(chunk));
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    logs: () => output + (kind.startsWith('nginx') ? readFileSync(join(folder, 'access.log'), 'utf8') : ''),
    async stop() {
      await endProgram(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
