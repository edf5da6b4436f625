import { type IncomingMessage, type ServerResponse } from 'node:http';
import { startEcho } from './echo-server';
import { serve, type TestServer } from '../../support/http';
import { startPluginServer, type ScriptedServer } from './plugin-server';
import { startGateway, type GatewaySettings, type RunningGateway } from './test-gateway';

export interface Stage {
  plugin: ScriptedServer;
  upstream: TestServer;
  gateway: RunningGateway;
  close(): Promise<void>;
}

export interface StageSettings extends Omit<GatewaySettings, 'kongYml'> {
  /** kong.yml for the address of the service, in place of the recording's. */
  kongYml?: (url: string) => string;
  /** The service behind every route; an echo unless given. */
  service?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** Service, plugin server and gateway, wired together. Routes: `/echo` behind the plugin, `/m` and `/strip` without. */
export async function setStage(settings: StageSettings = {}): Promise<Stage> {
  const { service, kongYml, ...rest } = settings;
  const upstream = service === undefined ? await startEcho() : await serve(service);
  const plugin = await startPluginServer();
  const routes =
    kongYml === undefined ? { upstreamOverrides: { echo: upstream.url, methods: upstream.url } } : { kongYml: kongYml(upstream.url) };
  const gateway = await startGateway({ pluginSocket: plugin.path, ...routes, ...rest });
  return {
    plugin,
    upstream,
    gateway,
    close: async () => {
      await gateway.close({ graceMs: 50 });
      await plugin.close();
      await upstream.close();
    },
  };
}

/** kong.yml with one unguarded service at `/x`. */
export function oneService(fields: Record<string, unknown>, route: Record<string, unknown> = {}): string {
  return JSON.stringify({
    _format_version: '3.0',
    services: [{ name: 'x', ...fields, routes: [{ name: 'x', paths: ['/x'], strip_path: false, ...route }] }],
  });
}
