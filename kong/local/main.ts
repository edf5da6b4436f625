import { renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { readOnSettings } from '../../plugins/core/read-on';
import { readSettings as readGroups } from '../../plugins/core/settings';
import { ConfigError } from './config/config-error';
import { parseUdpPlace } from './config/kong-conf';
import { createLocalGateway, type LocalGateway } from './gateway';
import { createJsonLog, type WriteLog } from './log';

/**
 * Running requests have this long after SIGTERM. `npm start` kills the process after 5 s (cli/supervisor/supervisor.ts). By then it must
 * have cut the rest and removed the bodies that it stored.
 */
const GRACE_MS = 4000;

const settingsSchema = z.object({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.coerce.number().int().min(0).max(65_535).default(8000),
  kongYml: z.string().default('kong/kong.yml'),
  kongConf: z.string().default('kong/kong.conf'),
  pluginInfo: z.string().default('kong/access-layer.json'),
  pluginSocket: z.string().min(1).optional(),
  stateFile: z.string().min(1).optional(),
  answersTo: z
    .string()
    .transform((text, context) => parseUdpPlace(text) ?? (context.addIssue({ code: 'custom', message: 'not host:port' }), z.NEVER))
    .optional(),
  upstreamOverrides: z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'not JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.record(z.string(), z.string()))
    .optional(),
});

/** Each setting is a flag (`--plugin-socket P`) or an environment variable. The flag wins. */
const VARIABLES = {
  host: 'GATEWAY_HOST',
  port: 'GATEWAY_PORT',
  kongYml: 'KONG_YML',
  kongConf: 'KONG_CONF',
  pluginInfo: 'PLUGIN_INFO',
  pluginSocket: 'PLUGIN_SOCKET',
  stateFile: 'GATEWAY_STATE_FILE',
  answersTo: 'ANSWERS_TO',
  upstreamOverrides: 'UPSTREAM_OVERRIDES',
} as const;

function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): z.infer<typeof settingsSchema> {
  const given: Record<string, string> = {};
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const at = args.indexOf(flag);
    const value = at >= 0 ? args[at + 1] : env[variable];
    if (value !== undefined && value !== '') given[name] = value;
  }
  const parsed = settingsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
}

/** The result of the last reading of kong.yml, for the sender of SIGHUP. Replaced in one step. */
function tellState(file: string | undefined, state: { digest: string } | { problems: readonly string[] }): void {
  if (file === undefined) return;
  writeFileSync(`${file}.new`, JSON.stringify({ ...state, at: Date.now() }), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Reloads on SIGHUP, as `kong reload` does. A file with mistakes changes nothing. */
function reload(gateway: LocalGateway, log: WriteLog, stateFile: string | undefined): void {
  try {
    tellState(stateFile, gateway.reload());
    log('info', 'kong.yml was read again');
  } catch (error) {
    const problems = error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : 'not readable'];
    tellState(stateFile, { problems });
    log('error', 'kong.yml cannot be used; what was read before stays', { problems });
  }
}

async function main(): Promise<void> {
  const log = createJsonLog((line) => process.stderr.write(line));
  const settings = readSettings(process.argv.slice(2), process.env);
  const gateway = createLocalGateway({
    kongYmlPath: settings.kongYml,
    kongConfPath: settings.kongConf,
    pluginInfoPath: settings.pluginInfo,
    host: settings.host,
    port: settings.port,
    ...(settings.pluginSocket === undefined ? {} : { pluginSocket: settings.pluginSocket }),
    answersTo: settings.answersTo,
    readOn: readGroups({ readOn: readOnSettings }, process.env).readOn,
    ...(settings.upstreamOverrides === undefined ? {} : { upstreamOverrides: settings.upstreamOverrides }),
    log,
  });
  const { port, digest } = await gateway.listen();
  tellState(settings.stateFile, { digest });
  process.on('SIGHUP', () => reload(gateway, log, settings.stateFile));
  let closing = false;
  const stop = (): void => {
    if (closing) return;
    closing = true;
    gateway.close({ graceMs: GRACE_MS }).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : 'the gateway could not start'}\n`);
  process.exit(1);
});
