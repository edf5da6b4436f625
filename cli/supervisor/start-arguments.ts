import { parseArgs } from 'node:util';

/** Gateways that can stand in front: the stand-in for Kong, or one that is installed here. */
const GATEWAY_CHOICES = ['local', 'nginx', 'nginx-lua', 'caddy', 'haproxy'] as const;

export type GatewayChoice = (typeof GATEWAY_CHOICES)[number];

export interface StartArguments {
  readonly port: number | undefined;
  readonly gateway: GatewayChoice;
  /** The folder of what is sold, as written on the command line. Undefined: that of TOLLGATE_CONFIG. */
  readonly config: string | undefined;
  /** True to print one JSON line instead of a summary. */
  readonly json: boolean;
  readonly help: boolean;
}

export const START_HELP = `npx tollgate start [--config DIR --port 8000 --gateway local --json]
npm start [-- --config DIR --port 8000 --gateway local --json], in a clone

Sets up and runs everything: database, gateway, plugin server, dashboard, and what the products of the folder need.

  --config   the folder of what is sold, which npx tollgate init writes (default: this folder if it is one, otherwise the example catalogue)
  --port N   port of the gateway (default: 8000 when it is free, otherwise any free port)
  --gateway  the gateway in front: local (the stand-in for Kong), nginx, nginx-lua, caddy or haproxy (as installed on this machine)
  --json     print one JSON line when everything responds: {"gateway","dashboard","sandbox","services","dataDir"}

TOLLGATE_CONFIG     the same as --config
DATABASE_URL        a PostgreSQL to use instead of the embedded one
REDIS_URL           a Redis that counts quotas instead of PostgreSQL
TOLLGATE_DATA_DIR   where database, logs and secrets are kept (default: .tollgate of the folder)

docs/settings.md lists every setting. They may also be in the file .env of the folder.`;

/** @throws Error, one sentence */
export function parseStartArguments(argv: readonly string[]): StartArguments {
  const { port, gateway: wanted, config, json, help } = readOptions(argv);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) throw new Error('--port is a number from 0 to 65535');
  const gateway = GATEWAY_CHOICES.find((choice) => choice === wanted);
  if (gateway === undefined) throw new Error(`--gateway is one of ${GATEWAY_CHOICES.join(', ')}`);
  if (config === '') throw new Error('--config needs the name of a folder');
  return { port: port === undefined ? undefined : Number(port), gateway, config, json, help };
}

type Options = Omit<StartArguments, 'port' | 'gateway' | 'config'> & { port?: string; gateway: string; config?: string };

function readOptions(argv: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        config: { type: 'string' },
        port: { type: 'string' },
        gateway: { type: 'string', default: 'local' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message.split('\n')[0] : 'the options cannot be read'}; see npm start -- --help`, {
      cause: error,
    });
  }
}
