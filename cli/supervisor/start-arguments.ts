import { parseArgs } from 'node:util';

export interface StartArguments {
  readonly port: number | undefined;
  /** Print one JSON line instead of a summary. */
  readonly json: boolean;
  readonly help: boolean;
}

export const START_HELP = `npm start [-- --port 8000 --json]

Sets up and runs everything: database, gateway, plugin server, services, workers, sandbox and dashboard.

  --port N   port of the gateway (default: 8000 when it is free, else any free one)
  --json     print one JSON line when everything answers: {"gateway","dashboard","sandbox","services","dataDir"}

DATABASE_URL        a PostgreSQL to use instead of the embedded one
REDIS_URL           a Redis that counts quotas instead of PostgreSQL
TOLLGATE_DATA_DIR   where database, logs and secrets are kept (default: .tollgate)

docs/products.md lists the settings of each product.`;

/** @throws Error, one sentence */
export function parseStartArguments(argv: readonly string[]): StartArguments {
  const { port, json, help } = readOptions(argv);
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) throw new Error('--port is a number from 0 to 65535');
  return { port: port === undefined ? undefined : Number(port), json, help };
}

function readOptions(argv: readonly string[]): { port?: string | undefined; json: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { port: { type: 'string' }, json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
    });
    return values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message.split('\n')[0] : 'the options cannot be read'}; see npm start -- --help`, {
      cause: error,
    });
  }
}
