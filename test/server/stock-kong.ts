import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeMultiStream, encode } from '@msgpack/msgpack';
import { eventually } from '../support/eventually';
import { endProgram } from '../support/system/program';

export interface StockCall {
  readonly method: string;
  readonly args: readonly unknown[];
}

interface Step {
  readonly EventId: number;
  /** A PDK call, or 'ret' at the end of the event. */
  readonly Data: 'ret' | { readonly Method: string; readonly Args: readonly unknown[] };
}

/** Kong's side of kong-pdk's stock plugin server, which runs as a process of its own: MessagePack-RPC over a unix socket, one call at a time. */
export class StockKong {
  private readonly answers: AsyncGenerator;
  private lastId = 0;

  private constructor(
    private readonly server: ChildProcess,
    private readonly socket: Socket,
    private readonly folder: string,
  ) {
    this.answers = decodeMultiStream(socket);
  }

  /** Starts `kong-js-pluginserver` on a folder of plugins and connects to it. */
  static async start(pluginFolder: string, env: Readonly<Record<string, string>>): Promise<StockKong> {
    const folder = mkdtempSync(join(tmpdir(), 'stock-server-'));
    const program = join(dirname(require.resolve('kong-pdk/package.json')), 'bin', 'kong-js-pluginserver');
    const server = spawn(process.execPath, [program, '-d', pluginFolder, '-p', folder, '--sock-name', 'stock.sock'], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const path = join(folder, 'stock.sock');
    await eventually(() => existsSync(path) || server.exitCode !== null);
    const socket = connect(path);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new StockKong(server, socket, folder);
  }

  /** What the server tells Kong of a plugin. */
  info(plugin: string): Promise<unknown> {
    return this.ask('GetPluginInfo', plugin);
  }

  async startInstance(plugin: string, config: object): Promise<number> {
    const { Id } = (await this.ask('StartInstance', { Name: plugin, Config: JSON.stringify(config) })) as { Id: number };
    return Id;
  }

  /** Runs the access phase; `replies` answers the methods that return something. @returns every PDK call in order */
  async event(instanceId: number, replies: Readonly<Record<string, unknown>>): Promise<StockCall[]> {
    const calls: StockCall[] = [];
    let step = (await this.ask('HandleEvent', { InstanceId: instanceId, EventName: 'access' })) as Step;
    while (step.Data !== 'ret') {
      const { Method: method, Args: args } = step.Data;
      calls.push({ method, args });
      // Kong answers no call after the one that ends the request.
      if (method === 'kong.response.exit') break;
      step = (await this.ask('Step', { EventId: step.EventId, Data: replies[method] })) as Step;
    }
    return calls;
  }

  async stop(): Promise<void> {
    this.socket.destroy();
    await endProgram(this.server);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async ask(method: string, argument: unknown): Promise<unknown> {
    this.socket.write(encode([0, ++this.lastId, `plugin.${method}`, [argument]]));
    const { value } = (await this.answers.next()) as { value: [number, number, unknown, unknown] };
    const [, id, error, result] = value;
    expect([id, error]).toEqual([this.lastId, null]);
    return result;
  }
}
