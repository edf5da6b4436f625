import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type KongPdk, type PluginModule } from '../../plugins/core/access/kong-pdk';
import { createPluginServer, type PluginServer, type PluginServerOptions } from '../../plugins/server/plugin-server';
import { ScriptedKong } from './scripted-kong';

export type Access = (kong: KongPdk, config: Record<string, unknown>) => Promise<void> | void;

/** A plugin module called `echo` whose access phase is `access`. */
export function pluginWith(access: Access): PluginModule {
  class Plugin {
    constructor(private readonly config: Record<string, unknown>) {
      if (config['refuse'] === true) throw new Error('secret reason');
    }
    access(kong: KongPdk): Promise<void> {
      return access(kong, this.config) as Promise<void>;
    }
  }
  return { Name: 'echo', Version: '1.2.3', Priority: 1010, Schema: [{ message: { type: 'string' } }], Plugin };
}

export interface LogLine {
  level: string;
  details: { err?: Error };
  message: string;
}

/** A plugin server on a socket of its own, the Kongs connected to it, and what it logged. */
export class TestServer {
  readonly log: LogLine[] = [];
  readonly socketPath: string;
  readonly server: PluginServer;
  private readonly folder = mkdtempSync(join(tmpdir(), 'plugin-server-'));
  private readonly kongs: ScriptedKong[] = [];

  constructor(access: Access, options: Partial<PluginServerOptions> = {}) {
    this.socketPath = join(this.folder, 'run', 'kong.sock');
    const write = (level: string) => (details: object, message: string) => void this.log.push({ level, details, message });
    const log = { info: write('info'), warn: write('warn'), error: write('error') };
    // Only tests of the deadline set one that a busy machine may miss.
    this.server = createPluginServer({
      plugin: pluginWith(access),
      socketPath: this.socketPath,
      log,
      eventDeadlineMs: 120_000,
      ...options,
    });
  }

  static async start(access: Access, options: Partial<PluginServerOptions> = {}): Promise<TestServer> {
    const started = new TestServer(access, options);
    await started.server.listen();
    return started;
  }

  async connect(): Promise<ScriptedKong> {
    const kong = await ScriptedKong.connect(this.socketPath);
    this.kongs.push(kong);
    return kong;
  }

  /** A connection and the id of an instance started on it. */
  async instance(config: object = {}): Promise<{ kong: ScriptedKong; id: number }> {
    const kong = await this.connect();
    return { kong, id: await kong.startInstance(config) };
  }

  logged(level: string): string[] {
    return this.log.filter((line) => line.level === level).map((line) => line.message);
  }

  async stop(): Promise<void> {
    for (const kong of this.kongs) kong.destroy();
    await this.server.close({ graceMs: 0 });
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Starts a server and an instance on it, which end with the test. */
export function useServer(onStart: (started: TestServer) => void = () => undefined) {
  let running: TestServer | undefined;
  afterEach(async () => {
    await running?.stop();
    running = undefined;
  });
  return async (access: Access = () => undefined, options: Partial<PluginServerOptions> = {}): ReturnType<TestServer['instance']> => {
    running = await TestServer.start(access, options);
    onStart(running);
    return running.instance();
  };
}

/** Waits until `check` holds, by turns of the event loop and not by a clock; the test's own time-out bounds it. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((resolve) => setTimeout(resolve, 1));
}
