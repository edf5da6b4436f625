import { setTimeout as sleep } from 'node:timers/promises';
import { send, type Reply, type Sending } from './http';

/** What the gate, or a service, answers that could not do its work within its own deadline; each says "Try again shortly". */
const TRY_AGAIN = /"code": ?"(?:access_layer_unavailable|quota_unavailable|service_not_ready)"/;
const TRIES = 4;
const PAUSE_MS = 1_000;

function asksToTryAgain({ status, text }: Reply): boolean {
  return status === 503 && TRY_AGAIN.test(text);
}

/**
 * Sends a request as the documentation tells a caller to: a 503 that asks for it is sent again. All deadlines of the gate are a second or
 * two, after which it refuses, and a machine that runs many tests may stand still for as long. That the gate refuses only then is shown
 * where faults are made (test/faults), not here.
 */
export async function sendPatiently(url: string, sending: Sending = {}): Promise<Reply> {
  let reply = await send(url, sending);
  for (let tries = 1; tries < TRIES && asksToTryAgain(reply); tries++) {
    process.stderr.write(`asked to try again: ${new URL(url).pathname} ${reply.text}\n`);
    await sleep(PAUSE_MS);
    reply = await send(url, sending);
  }
  return reply;
}
