import { parseArgs } from 'node:util';
import { type ServiceDefinition } from './kit/service/define-service';
import { SettingsError } from '../plugins/core/settings';
import { describeError } from './kit/log';
import { SERVICES } from './registry';
import { runServices } from './run-services';

/** Requests that still run this long after the last one was taken are cut off: under `npm start` a stop may take 15 s in all. */
const DRAIN_LIMIT_MS = 12_000;

const USAGE = `usage: main.js --service NAME [--service NAME …] | --all\n  NAME: ${Object.keys(SERVICES).join(', ')}\n`;

/** The services that the command line names; undefined when it cannot be understood. */
function chosenServices(args: readonly string[]): readonly ServiceDefinition[] | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { service: { type: 'string', multiple: true }, all: { type: 'boolean' } } });
    const all = new Map<string, ServiceDefinition>(Object.entries(SERVICES));
    if (values.all) return values.service ? undefined : [...all.values()];
    const chosen = (values.service ?? []).map((name) => all.get(name));
    const known = chosen.filter((service) => service !== undefined);
    return known.length > 0 && known.length === chosen.length ? known : undefined;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const services = chosenServices(process.argv.slice(2));
  if (!services) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const running = await runServices(services, process.env);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), running.leaveMs + DRAIN_LIMIT_MS).unref();
    void running.close().then(() => process.exit(0));
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // Last: whoever reads this may stop the process at once.
  process.stdout.write(`${JSON.stringify({ ready: true, services: running.services, private: running.privateUrl, pid: process.pid })}\n`);
}

/** Says why on standard error, scrubbed, and ends: a supervisor starts the process again. */
function fail(message: string, error: unknown): never {
  const text = error instanceof SettingsError ? error.message : JSON.stringify({ level: 'fatal', msg: message, err: describeError(error) });
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

process.on('uncaughtException', (error) => fail('an error that nobody handled', error));
main().catch((error: unknown) => fail('the services could not start', error));
