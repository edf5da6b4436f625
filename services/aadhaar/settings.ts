import { z } from 'zod';
import { listSetting, redisSetting } from '../kit/config';

/** Environment of the aadhaar service. */
export const aadhaarSettings = z.object({
  /** `host:port` of the identity workers, separated by commas, the same list for every replica. */
  IDENTITY_WORKER_URL: listSetting().optional(),
  /** Lets every replica find the worker of a session; needed with several workers and several replicas. */
  REDIS_URL: redisSetting().optional(),
});

export type AadhaarSettings = z.output<typeof aadhaarSettings>;
