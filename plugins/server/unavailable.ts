import { encodeFrames } from './wire/frames';
import { encodeExitArgs } from './wire/pdk-messages';

/** The answer when the access decision could not be made. It says nothing of the cause: that is in the log. */
const problem = {
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'Access to this API could not be checked. Please try again in a moment.',
  code: 'access_layer_unavailable',
};

/** `response.exit(503)` with the problem as its body, as the two frames of one PDK call. */
export const unavailableFrames = encodeFrames([
  Buffer.from('kong.response.exit'),
  encodeExitArgs({
    status: problem.status,
    body: Buffer.from(JSON.stringify(problem)),
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' },
  }),
]);
