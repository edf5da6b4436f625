import { pino } from 'pino';
import { newRequestId, refusalOf } from '../../access-layer/held-request';
import { type AccessInstance } from '../../core/access/verdict';
import { ACCESS_LAYER } from '../../access-layer/plugin';
import { type KongPdk } from '../../core/access/kong-pdk';
import { openAccessLayer } from '../open-access-layer';
import { readPluginServerSettings } from '../settings';

// The access layer as a module for kong-pdk's stock plugin server: `kong-js-pluginserver -d dist/plugins/server/stock`. It is not for
// production, because with that server's protocol Kong lets requests through when the server dies or hangs (docs/decisions/0002).

// The stock server opens the socket itself.
const settings = readPluginServerSettings({ ...process.env, PLUGIN_SOCKET: 'unused' });
const log = pino({ level: settings.logLevel, base: { service: 'stock-server' } }, pino.destination(2));
const opened = openAccessLayer({ settings, log, hearsAnswers: false });

export const { Name, Version, Priority, Schema } = ACCESS_LAYER;

export class Plugin {
  private readonly instance: Promise<AccessInstance>;

  constructor(config: Record<string, unknown>) {
    this.instance = opened.then(({ plugin }) => new plugin.Plugin(config));
    // Events report the failure. Without this line it would end the process.
    this.instance.catch(() => undefined);
  }

  async access(kong: KongPdk): Promise<void> {
    try {
      await (await this.instance).access(kong);
    } catch (err) {
      log.error({ err }, 'the request could not be checked and was refused');
      // An exception would let the request through.
      const { status, body, headers } = refusalOf('access_layer_unavailable', { requestId: newRequestId() });
      await kong.response.exit(status, body, headers);
    }
  }
}
