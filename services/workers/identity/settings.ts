import { z } from 'zod';
import { numberSetting, portSetting, redisSetting, urlSetting } from '../../kit/config';

const LINK_SCHEMES = ['ws', 'wss', 'http', 'https'];
const SHORTEST_HMAC_KEY_BYTES = 32;

/** What the worker process reads from its environment. */
export const identityWorkerSettings = z.object({
  WORKER_HOST: z.string().default('127.0.0.1'),
  /** 0 takes a free port; the ready line names it. */
  WORKER_PORT: portSetting().default(0),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  SANDBOX_URL: urlSetting().optional(),
  REDIS_URL: redisSetting().optional(),
  /** WebSocket links of the live upstreams, and the bearer tokens they ask for. */
  GST_LINK_URL: urlSetting(LINK_SCHEMES).optional(),
  GST_LINK_TOKEN: z.string().optional(),
  AADHAAR_LINK_URL: urlSetting(LINK_SCHEMES).optional(),
  AADHAAR_LINK_TOKEN: z.string().optional(),
  /** Base64, 32 bytes or more, the same for all workers: keys the HMAC by which the OTP throttle knows numbers. */
  IDENTITY_HMAC_KEY: z
    .string()
    .transform((text) => Buffer.from(text, 'base64'))
    .refine((key) => key.length >= SHORTEST_HMAC_KEY_BYTES, `must be base64 of ${SHORTEST_HMAC_KEY_BYTES} bytes or more`)
    .optional(),
  /** OTPs for one number within the window, whoever asks. */
  AADHAAR_OTP_MOST: numberSetting({ min: 1, max: 1_000 }).default(5),
  AADHAAR_OTP_WINDOW_MS: numberSetting({ min: 1_000, max: 86_400_000 }).default(1_800_000),
  /** Open sessions of each product. */
  IDENTITY_MOST_SESSIONS: numberSetting({ min: 1, max: 1_000_000 }).default(50_000),
  /** For the upstream to answer one message. */
  IDENTITY_MESSAGE_TIMEOUT_MS: numberSetting({ min: 50, max: 14_000 }).default(10_000),
  IDENTITY_CONNECT_TIMEOUT_MS: numberSetting({ min: 50, max: 14_000 }).default(5_000),
  IDENTITY_HEARTBEAT_MS: numberSetting({ min: 20, max: 300_000 }).default(15_000),
});

export type IdentityWorkerSettings = z.output<typeof identityWorkerSettings>;
