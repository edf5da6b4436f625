import { z } from 'zod';
import { listSetting, numberSetting, redisSetting } from '../kit/config';

/** Environment of the gst service. */
export const gstSettings = z.object({
  /** `host:port` of the identity workers, separated by commas, the same list for every replica. */
  IDENTITY_WORKER_URL: listSetting().optional(),
  /** Lets every replica find the worker of a session; needed with several workers and several replicas. */
  REDIS_URL: redisSetting().optional(),
  /** Milliseconds a WebSocket at /gst/start stays open. */
  GST_SOCKET_MS: numberSetting({ min: 50, max: 3_600_000 }).default(300_000),
});

export type GstSettings = z.output<typeof gstSettings>;
