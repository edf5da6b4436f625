import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../plugins/core/ports';
import { loadService } from '../../kit/load-proto';
import { type Log } from '../../kit/log';
import { connectRedis, type RedisClient } from '../../kit/redis-client';
import { serveWorker, type WorkerServer } from '../../kit/serve-worker';
import { sandboxAt } from '../../kit/upstream-target';
import { createAadhaarHandlers } from './aadhaar-handlers';
import { createGstHandlers } from './gst-handlers';
import { createMemoryOtpThrottle, type OtpThrottle, unlimitedOtps } from './otp-throttle';
import { createRedisOtpThrottle } from './redis-otp-throttle';
import { type IdentityWorkerSettings } from './settings';
import { type LinkTimings } from './upstream/link-connection';
import { aadhaarOverLinks, gstOverLinks, LinkSet } from './upstream/link-set';

const PROTO = join(__dirname, '../../../protos/identity/v1/identity.proto');
const HMAC_KEY_BYTES = 32;
const FIRST_RETRY_MS = 250;
const SLOWEST_RETRY_MS = 30_000;
const REDIS_DEADLINE_MS = 1_000;

function timingsOf(settings: IdentityWorkerSettings): LinkTimings {
  return {
    messageMs: settings.IDENTITY_MESSAGE_TIMEOUT_MS,
    connectMs: settings.IDENTITY_CONNECT_TIMEOUT_MS,
    heartbeatMs: settings.IDENTITY_HEARTBEAT_MS,
    firstRetryMs: FIRST_RETRY_MS,
    slowestRetryMs: SLOWEST_RETRY_MS,
  };
}

function linkSets(settings: IdentityWorkerSettings, log: Log): { gst: LinkSet; aadhaar: LinkSet } {
  const common = { sandboxUrl: settings.SANDBOX_URL };
  const timings = timingsOf(settings);
  const gst = {
    liveUrl: settings.GST_LINK_URL,
    liveSetting: 'GST_LINK_URL',
    liveToken: settings.GST_LINK_TOKEN,
    sandboxUrl: sandboxAt(common, '/identity/gst'),
  };
  const aadhaar = {
    liveUrl: settings.AADHAAR_LINK_URL,
    liveSetting: 'AADHAAR_LINK_URL',
    liveToken: settings.AADHAAR_LINK_TOKEN,
    sandboxUrl: sandboxAt(common, '/identity/aadhaar'),
  };
  return {
    gst: new LinkSet({ target: gst, timings, log: log.child({ upstream: 'gst' }) }),
    aadhaar: new LinkSet({ target: aadhaar, timings, log: log.child({ upstream: 'aadhaar' }) }),
  };
}

/** Workers count together only when they also share the HMAC key; it never lies beside the counts. */
function liveThrottle(settings: IdentityWorkerSettings, redis: RedisClient | undefined, clock: Clock): OtpThrottle {
  const allowance = { most: settings.AADHAAR_OTP_MOST, windowMs: settings.AADHAAR_OTP_WINDOW_MS };
  return redis ? createRedisOtpThrottle(redis, allowance) : createMemoryOtpThrottle(allowance, () => clock.monotonic());
}

/** Serves the worker over gRPC until it is closed. */
export async function startIdentityWorker(settings: IdentityWorkerSettings, log: Log, clock: Clock = systemClock): Promise<WorkerServer> {
  const { IDENTITY_HMAC_KEY: sharedKey, REDIS_URL: redisUrl, IDENTITY_MOST_SESSIONS: mostSessions } = settings;
  const links = linkSets(settings, log);
  const onError = (error: Error): void => log.debug({ err: error }, 'Redis cannot be used');
  const redis =
    redisUrl !== undefined && sharedKey
      ? connectRedis(redisUrl, { deadlineMs: REDIS_DEADLINE_MS, waitForConnection: false, onError })
      : undefined;
  if (!redis) log.info('OTPs are counted in this worker only: REDIS_URL and IDENTITY_HMAC_KEY together make all workers count as one');
  const gst = createGstHandlers({ upstream: gstOverLinks(links.gst), clock, mostSessions });
  const aadhaar = createAadhaarHandlers({
    upstream: aadhaarOverLinks(links.aadhaar),
    throttles: { live: liveThrottle(settings, redis, clock), test: unlimitedOtps },
    hmacKey: sharedKey ?? randomBytes(HMAC_KEY_BYTES),
    clock,
    mostSessions,
  });
  const server = await serveWorker({
    service: loadService(PROTO, 'identity.v1.IdentityWorker'),
    handlers: { ...gst, ...aadhaar },
    host: settings.WORKER_HOST,
    port: settings.WORKER_PORT,
    log,
  });
  return {
    ...server,
    close: async (drainMs) => {
      await server.close(drainMs);
      links.gst.close();
      links.aadhaar.close();
      redis?.disconnect();
    },
  };
}
