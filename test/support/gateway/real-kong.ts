import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { eventually } from '../eventually';

/** Also from dist/, where benchmarks run. */
const OURS = resolve(process.cwd(), 'kong');

export interface KongOptions {
  /** What runs Kong: `kong`, or a path. Kong's own variables (KONG_NGINX_USER) go on to it. */
  readonly command: string;
  readonly folder: string;
  /** What kong.yml says. */
  readonly file: object;
  /** The project's kong.conf, or Kong's defaults. */
  readonly conf: 'ours' | 'default';
  /** Settings in place of those of `conf`; an empty one leaves its line out. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface RealKong {
  readonly url: string;
  /** The same by TLS, with a certificate that Kong made. */
  readonly tlsUrl: string;
  readonly workerPid: number;
  /** Reads kong.yml of the folder again. Resolves when no worker of before answers any more. */
  reload(): Promise<void>;
  stop(): void;
}

/** Mounts kong/lane where Kong looks for the plugin. @returns Kong's settings for it, with the variable of the project's kong.conf */
export function laneSettings(folder: string): Record<string, string> {
  const plugins = join(folder, 'lua', 'kong', 'plugins');
  mkdirSync(plugins, { recursive: true });
  symlinkSync(join(OURS, 'lane'), join(plugins, 'tollgate'));
  return {
    plugins: 'bundled,tollgate',
    lua_package_path: `${join(folder, 'lua')}/?.lua;;`,
    nginx_http_include: `${join(OURS, 'log-maps.conf')}; include ${join(OURS, 'request-map.conf')}`,
  };
}

/** With paths and ports of this run, otherwise Kong's own default, which the shipped kong.conf keeps; one worker, no access log. */
function kongConf({ folder, conf, settings }: KongOptions, port: number, tlsPort: number): string {
  const changed: Record<string, string> = {
    database: 'off',
    declarative_config: join(folder, 'kong.yml'),
    proxy_access_log: 'off',
    proxy_error_log: join(folder, 'error.log'),
    prefix: join(folder, 'prefix'),
    proxy_listen: `127.0.0.1:${port} reuseport backlog=16384, 127.0.0.1:${tlsPort} http2 ssl reuseport backlog=16384`,
    nginx_worker_processes: '1',
    admin_listen: 'off',
    admin_gui_listen: 'off',
    status_listen: 'off',
    anonymous_reports: 'off',
    ...settings,
  };
  const text = conf === 'ours' ? readFileSync(join(OURS, 'kong.conf'), 'utf8') : '';
  const isKept = (name: string): boolean => !(name in changed) && !(settings['plugins'] !== undefined && name.startsWith('pluginserver_'));
  const kept = text
    .split('\n')
    .filter((line) => isKept(/^(\w+) *=/.exec(line)?.[1] ?? ''))
    .map((line) => line.replaceAll('/etc/kong/', `${OURS}/`));
  return [...kept, ...Object.entries(changed).flatMap(([name, value]) => (value === '' ? [] : [`${name} = ${value}`])), ''].join('\n');
}

/** Its command line; empty when the process has ended. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The one child of the master that serves requests; undefined while there is none, or one of before that still ends its requests. */
function findWorker(prefix: string): number | undefined {
  const master = readFileSync(join(prefix, 'pids', 'nginx.pid'), 'utf8').trim();
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim().split(' ');
  const workers = children.filter((pid) => commandLine(pid).includes('worker process'));
  return workers.length === 1 ? Number(workers[0]) : undefined;
}

/** Starts a Kong on a free port. */
export async function startKong(options: KongOptions): Promise<RealKong> {
  const { command, folder, file } = options;
  mkdirSync(folder, { recursive: true });
  const [port = 0, tlsPort = 0] = await findFreePorts(2);
  const conf = join(folder, 'kong.conf');
  writeFileSync(conf, kongConf(options, port, tlsPort));
  writeFileSync(join(folder, 'kong.yml'), JSON.stringify(file));
  const prefix = join(folder, 'prefix');
  const stop = (): void => void execFileSync(command, ['stop', '-p', prefix], { stdio: 'ignore' });
  execFileSync(command, ['start', '-c', conf], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await eventually(() => findWorker(prefix) !== undefined);
    const workerPid = findWorker(prefix) ?? 0;
    let last = workerPid;
    const reload = async (): Promise<void> => {
      // Without blocking: callers of this process go on meanwhile.
      await promisify(execFile)(command, ['reload', '-c', conf, '-p', prefix]);
      await eventually(() => ![undefined, last].includes(findWorker(prefix)));
      last = findWorker(prefix) ?? 0;
    };
    return { url: `http://127.0.0.1:${port}`, tlsUrl: `https://127.0.0.1:${tlsPort}`, workerPid, reload, stop };
  } catch (error) {
    stop();
    throw error;
  }
}
