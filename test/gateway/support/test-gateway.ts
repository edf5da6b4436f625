import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createLocalGateway, type LocalGateway, type LocalGatewayOptions } from '../../../kong/local/gateway';
import { type LogFields } from '../../../kong/local/log';

export const fixtures = resolve(__dirname, '../fixtures');

export interface RunningGateway extends LocalGateway {
  port: number;
  logs: { level: string; message: string; fields: LogFields | undefined }[];
}

export type GatewaySettings = Partial<Omit<LocalGatewayOptions, 'log'>> & {
  /** Text of kong.yml in place of the recording's. */
  kongYml?: string;
  /** Lines added to the recording's kong.conf. */
  kongConf?: string;
};

const folder = mkdtempSync(join(tmpdir(), 'tollgate-gateway-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a folder that is removed after the calling test file. */
export function writeConfig(name: string, text: string): string {
  const path = join(mkdtempSync(join(folder, 'config-')), name);
  writeFileSync(path, text);
  return path;
}

const CONF = 'database = off\npluginserver_names = tracer\npluginserver_tracer_socket = /tmp/unused.sock\n';

/** A gateway on a free port, with the recording's configuration unless told otherwise. */
export async function startGateway(settings: GatewaySettings): Promise<RunningGateway> {
  const { kongYml, kongConf, ...options } = settings;
  const logs: RunningGateway['logs'] = [];
  const gateway = createLocalGateway({
    kongYmlPath: kongYml === undefined ? join(fixtures, 'traces.yml') : writeConfig('kong.yml', kongYml),
    kongConfPath: kongConf === undefined ? join(fixtures, 'traces.conf') : writeConfig('kong.conf', CONF + kongConf),
    pluginInfoPath: join(fixtures, 'tracer.json'),
    host: '127.0.0.1',
    port: 0,
    ...options,
    log: (level, message, fields) => logs.push({ level, message, fields }),
  });
  const { port } = await gateway.listen();
  return { port, logs, listen: () => gateway.listen(), reload: () => gateway.reload(), close: (grace) => gateway.close(grace) };
}
