import { type Pool } from 'pg';
import { z } from 'zod';
import { type Clock } from '../../../plugins/core/ports';
import { pruneAlerts } from '../../selling/webhooks/claim-deliveries';
import { raiseAlerts } from '../../selling/webhooks/raise-alerts';
import { booleanSetting } from '../../../plugins/core/settings';
import { type Log } from '../../kit/log';
import { repeat } from '../../kit/repeat';
import { WebhookSender } from './webhooks/webhook-sender';

const MAX_PAUSE_S = 604_800;

function pausesSetting(): z.ZodType<number[]> {
  return z
    .string()
    .regex(/^\d{1,6}(,\d{1,6}){0,19}$/, 'must be seconds separated by commas, at most 20 of them')
    .transform((text) => text.split(',').map(Number))
    .refine((pauses) => pauses.every((each) => each <= MAX_PAUSE_S), `must have no pause above ${MAX_PAUSE_S} seconds`);
}

/** What the dashboard's process reads for alerts and webhooks. */
export const alertSettings = z.object({
  /** Private addresses and any port, for a developer's own receiver. Never where strangers have accounts. */
  DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: booleanSetting().default(false),
  /** Pauses between attempts, in seconds: 30 s, 2 min, 10 min, 1 h, 6 h. */
  DASHBOARD_WEBHOOKS_RETRY_SECONDS: pausesSetting().default([30, 120, 600, 3_600, 21_600]),
});
export type AlertProcessSettings = z.output<typeof alertSettings>;

export interface AlertWorkOptions {
  readonly db: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeZone: string;
  readonly settings: AlertProcessSettings;
  /** Pause between two looks at limits and expiries. Default 5 s. */
  readonly evaluateMs?: number;
  /** Pause between two looks at waiting deliveries. Default 1 s. */
  readonly pollMs?: number;
}

export interface AlertWork {
  /** Waits for what runs. Never throws. */
  close(): Promise<void>;
}

const PRUNE_EVERY_MS = 3_600_000;

/** Raises alerts and sends them to webhooks, beside the API in the dashboard's process. Any number of processes may do so at once. */
export function startAlerts(options: AlertWorkOptions): AlertWork {
  const { db, log, clock, timeZone, settings, evaluateMs = 5_000, pollMs } = options;
  const sender = new WebhookSender({
    db,
    clock,
    log,
    timeZone,
    retrySeconds: settings.DASHBOARD_WEBHOOKS_RETRY_SECONDS,
    allowPrivate: settings.DASHBOARD_WEBHOOKS_ALLOW_PRIVATE,
    ...(pollMs === undefined ? {} : { pollMs }),
  });
  const raising = repeat(() => raiseAlerts(db, { timeZone }), {
    everyMs: evaluateMs,
    onError: (err) => log.warn({ err }, 'limits and expiries could not be looked at'),
  });
  const pruning = repeat(() => pruneAlerts(db), {
    everyMs: PRUNE_EVERY_MS,
    onError: (err) => log.warn({ err }, 'old alerts could not be deleted'),
  });
  return { close: async () => void (await Promise.all([raising.close(), pruning.close(), sender.close()])) };
}
