import { z } from 'zod';
import { logLevelSetting, numberSetting, portSetting, redisSetting, timeZoneSetting, urlSetting } from '../../plugins/core/settings';

/** Settings of every worker process, to be spread into the worker's own settings. */
export const workerProcessFields = {
  WORKER_HOST: z.string().default('127.0.0.1'),
  /** 0 takes a free port; the ready line names it. */
  WORKER_PORT: portSetting().default(0),
  /** Address for `/metrics` and `/health`. Without a port, nothing listens. */
  PRIVATE_HOST: z.string().default('127.0.0.1'),
  PRIVATE_PORT: portSetting().optional(),
  LOG_LEVEL: logLevelSetting(),
};

export type WorkerProcessSettings = z.output<z.ZodObject<typeof workerProcessFields>>;

/** Settings of every service process. */
export const processSettings = z.object({
  /** Address to listen on. */
  SERVICE_HOST: z.string().default('127.0.0.1'),
  /** With `--all` this is the first of consecutive ports, one for each service. 0 takes free ports. */
  SERVICE_PORT: portSetting().default(8080),
  /** Milliseconds after SIGTERM during which requests are still taken, so that gateways notice before they are refused. */
  SERVICE_LEAVE_MS: numberSetting({ min: 0, max: 60_000 }).default(3_000),
  /**
   * How many requests of one subscription may run at once in this process, for every heavy product. The catalogue's numbers apply when
   * absent.
   */
  SERVICE_SLOTS: numberSetting({ min: 1, max: 10_000 }).optional(),
  /** Address for `/metrics`, `/health` and `/ready`. */
  PRIVATE_HOST: z.string().default('127.0.0.1'),
  PRIVATE_PORT: portSetting().default(9090),
  /** The folder of the seller's files, and the catalogue's path if it lies elsewhere. Every process reads the same files. */
  TOLLGATE_CONFIG: z.string().optional(),
  CATALOGUE_FILE: z.string().optional(),
  SANDBOX_URL: urlSetting().optional(),
  DATABASE_URL: z.string().optional(),
  REDIS_URL: redisSetting().optional(),
  QUOTA_TIMEZONE: timeZoneSetting(),
  LOG_LEVEL: logLevelSetting(),
});

export type ProcessSettings = z.output<typeof processSettings>;
