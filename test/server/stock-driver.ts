/** kong-pdk's server.js as far as Kong drives it over MessagePack; the package has no types of its own. */
interface StockServer {
  GetPluginInfo(name: string): Promise<unknown>;
  StartInstance(config: { Name: string; Config: string }): Promise<{ Id: number }>;
  HandleEvent(event: { InstanceId: number; EventName: string }): Promise<StockStep>;
  Step(reply: { EventId: number; Data: unknown }): Promise<StockStep>;
  close(): void;
}
interface StockStep {
  EventId: number;
  /** A PDK call, or 'ret' once the plugin is through. */
  Data: 'ret' | { Method: string; Args: unknown[] };
}

export interface StockCall {
  method: string;
  args: unknown[];
}

/** Drives a plugin in the stock JavaScript plugin server, without its socket. */
export class StockDriver {
  private constructor(private readonly server: StockServer) {}

  /** Loads every plugin module in `pluginDirectory`. */
  static async load(pluginDirectory: string): Promise<StockDriver> {
    const path = 'kong-pdk/server.js';
    const { default: Server } = (await import(path)) as {
      default: new (directory: string, logger: Record<string, () => void>) => StockServer;
    };
    const quiet = (): void => {};
    return new StockDriver(new Server(pluginDirectory, { debug: quiet, info: quiet, warn: quiet, error: quiet }));
  }

  /** What the stock server tells Kong of a plugin. */
  info(plugin: string): Promise<unknown> {
    return this.server.GetPluginInfo(plugin);
  }

  async startInstance(plugin: string, config: object): Promise<number> {
    const { Id } = await this.server.StartInstance({ Name: plugin, Config: JSON.stringify(config) });
    return Id;
  }

  /** Runs the access phase; `replies` answers the methods that return something. @returns every PDK call in order */
  async event(instanceId: number, replies: Record<string, unknown>): Promise<StockCall[]> {
    const calls: StockCall[] = [];
    let step = await this.server.HandleEvent({ InstanceId: instanceId, EventName: 'access' });
    while (step.Data !== 'ret') {
      const { Method, Args } = step.Data;
      calls.push({ method: Method, args: Args });
      // Kong answers no call after the one that ends the request.
      if (Method === 'kong.response.exit') break;
      step = await this.server.Step({ EventId: step.EventId, Data: replies[Method] });
    }
    return calls;
  }

  close(): void {
    this.server.close();
  }
}
