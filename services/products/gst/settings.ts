import { z } from 'zod';
import { numberSetting } from '../../../plugins/core/settings';
import { sessionWorkersFields } from '../../kit/worker/session-workers';

/** Environment of the gst service. */
export const gstSettings = z.object({
  ...sessionWorkersFields,
  /** Milliseconds a WebSocket at /gst/start stays open. */
  GST_SOCKET_MS: numberSetting({ min: 50, max: 3_600_000 }).default(300_000),
});

export type GstSettings = z.output<typeof gstSettings>;
