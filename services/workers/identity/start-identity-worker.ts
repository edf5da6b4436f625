import { randomBytes } from 'node:crypto';
import { type Clock } from '../../../plugins/core/ports';
import { connectRedis, type RedisClient } from '../../kit/redis-client';
import { type WorkerServer } from '../../kit/worker/serve-worker';
import { startWorker } from '../../kit/worker/start-worker';
import { createWorkerMetrics, type WorkerMetrics } from '../../kit/worker/worker-metrics';
import { type MutualTls } from '../../kit/mutual-tls';
import { notConfigured } from '../../kit/errors';
import { hasLiveSource, sourcesOf } from '../live-sources';
import { createAadhaarHandlers } from './aadhaar-handlers';
import { createGstHandlers, type IdentityCall } from './gst-handlers';
import { createMemoryOtpThrottle, type OtpThrottle, unlimitedOtps } from './otp-throttle';
import { createRedisOtpThrottle } from './redis-otp-throttle';
import { type IdentityWorkerSettings } from './settings';
import { createIdentityUpstreams, type UpstreamTools } from './upstream/create-upstreams';

const HMAC_KEY_BYTES = 32;
const REDIS_DEADLINE_MS = 1_000;

/** Workers share counts only when they also share the HMAC key, which is never stored beside the counts. */
function liveThrottle(settings: IdentityWorkerSettings, redis: RedisClient | undefined, clock: Clock): OtpThrottle {
  const allowance = { most: settings.AADHAAR_OTP_MOST, windowMs: settings.AADHAAR_OTP_WINDOW_MS };
  return redis ? createRedisOtpThrottle(redis, allowance) : createMemoryOtpThrottle(allowance, () => clock.monotonic());
}

/** Serves the worker over gRPC until it is closed. */
export function startIdentityWorker(
  settings: IdentityWorkerSettings,
  tools: Omit<UpstreamTools, 'metrics'> & { readonly tls?: MutualTls | undefined; readonly metrics?: WorkerMetrics },
): Promise<WorkerServer> {
  const { IDENTITY_HMAC_KEY: sharedKey, REDIS_URL: redisUrl } = settings;
  const { log, clock, tls, metrics = createWorkerMetrics('identity') } = tools;
  const upstreams = createIdentityUpstreams(settings, { ...tools, metrics: metrics.upstreams });
  const onError = (error: Error): void => log.debug({ err: error }, 'Redis cannot be used');
  const redis =
    redisUrl !== undefined && sharedKey
      ? connectRedis(redisUrl, { deadlineMs: REDIS_DEADLINE_MS, waitForConnection: false, onError })
      : undefined;
  if (!redis) log.info('OTPs are counted in this worker only: REDIS_URL and IDENTITY_HMAC_KEY together make all workers count as one');
  const sessions = { most: settings.IDENTITY_MOST_SESSIONS, mostOfOne: settings.IDENTITY_MOST_SESSIONS_OF_ONE };
  const gst = createGstHandlers({
    upstream: upstreams.gst,
    clock,
    sessions,
    watchSessions: (read) => metrics.watchSessions('gst', read),
  });
  const aadhaar = createAadhaarHandlers({
    upstream: upstreams.aadhaar,
    throttles: { live: liveThrottle(settings, redis, clock), test: unlimitedOtps },
    hmacKey: sharedKey ?? randomBytes(HMAC_KEY_BYTES),
    clock,
    sessions,
    watchSessions: (read) => metrics.watchSessions('aadhaar', read),
  });
  return startWorker('identity', {
    settings,
    log,
    tls,
    metrics,
    handlers: { ...requireSource('api-gst', gst, settings), ...requireSource('api-aadhaar', aadhaar, settings) },
    close: async () => {
      await upstreams.close();
      redis?.disconnect();
    },
  });
}

type Handlers = Readonly<Record<string, (request: never, call: IdentityCall) => Promise<unknown>>>;

/**
 * While the source for keys of the call's mode is not configured, refuses every step of a session in the same way as its start: no session
 * can have begun, and the caller did not cause it.
 */
function requireSource<Given extends object>(product: string, handlers: Given, settings: IdentityWorkerSettings): Given {
  const missing = {
    live: hasLiveSource(product, settings) ? [] : sourcesOf(product).map((source) => source.join(' with ')),
    test: settings.SANDBOX_URL === undefined ? ['SANDBOX_URL'] : [],
  };
  const required = Object.entries(handlers as Handlers).map(([name, handle]) => {
    const checked = (request: never, call: IdentityCall): Promise<unknown> => {
      const settingsOfMode = missing[call.mode];
      return settingsOfMode.length === 0 ? handle(request, call) : Promise.reject(notConfigured(settingsOfMode, call.mode));
    };
    return [name, checked];
  });
  return Object.fromEntries(required) as Given;
}
