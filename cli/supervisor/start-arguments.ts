import { parseArgs } from 'node:util';

/** What stands in front: the stand-in for Kong, or a gateway that is installed here. */
const GATEWAY_CHOICES = ['local', 'nginx', 'nginx-lua', 'caddy', 'haproxy'] as const;

export type GatewayChoice = (typeof GATEWAY_CHOICES)[number];

export interface StartArguments {
  readonly port: number | undefined;
  readonly gateway: GatewayChoice;
  /** Print one JSON line instead of a summary. */
  readonly json: boolean;
  readonly help: boolean;
}

export const START_HELP = `npm start [-- --port 8000 --gateway local --json]

Sets up and runs everything: database, gateway, plugin server, services, workers, sandbox and dashboard.

  --port N   port of the gateway (default: 8000 when it is free, else any free one)
  --gateway  what stands in front: local (the stand-in for Kong), nginx, nginx-lua, caddy or haproxy (as installed on this machine)
  --json     print one JSON line when everything answers: {"gateway","dashboard","sandbox","services","dataDir"}

DATABASE_URL        a PostgreSQL to use instead of the embedded one
REDIS_URL           a Redis that counts quotas instead of PostgreSQL
TOLLGATE_DATA_DIR   where database, logs and secrets are kept (default: .tollgate)

docs/products.md lists the settings of each product.`;

/** @throws Error, one sentence */
export function parseStartArguments(argv: readonly string[]): StartArguments {
  const { port, gateway: wanted, json, help } = readOptions(argv);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) throw new Error('--port is a number from 0 to 65535');
  const gateway = GATEWAY_CHOICES.find((choice) => choice === wanted);
  if (gateway === undefined) throw new Error(`--gateway is one of ${GATEWAY_CHOICES.join(', ')}`);
  return { port: port === undefined ? undefined : Number(port), gateway, json, help };
}

function readOptions(argv: readonly string[]): { port?: string | undefined; gateway: string; json: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
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
