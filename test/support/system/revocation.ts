import { eventually } from '../eventually';
import { send } from '../http';
import { isMeasured } from '../measured';

export interface RevocationPlan {
  /** URLs that the key is used on, one a node. */
  readonly urls: readonly string[];
  readonly key: string;
  /** Resolves once the revocation was committed. */
  readonly revoke: () => Promise<unknown>;
}

/** Requests at a time on each node. */
const LOOPS = 2;
/** A node is believed to refuse the key after so many refusals of requests that were sent after the commit. */
const ENOUGH_REFUSALS = isMeasured ? 100 : 25;

/**
 * Uses a key on every node while it is revoked, until each has refused it for long enough.
 * @returns for each node when the last request that it admitted was sent, in milliseconds after the commit returned here. A stall of
 * this process never makes a figure larger: whatever was admitted was sent before it was decided.
 */
export async function lastAdmittedAfter({ urls, key, revoke }: RevocationPlan): Promise<number[]> {
  let revokedAt = Infinity;
  const lastAdmittedAt = urls.map(() => -Infinity);
  const refusals = urls.map(() => 0);
  const isOver = (): boolean => refusals.every((count) => count >= ENOUGH_REFUSALS);
  const hammer = async (url: string, node: number): Promise<void> => {
    while (!isOver()) {
      const sentAt = performance.now();
      const { status } = await send(url, { headers: { 'X-API-Key': key } });
      if (status === 200) lastAdmittedAt[node] = Math.max(lastAdmittedAt[node] ?? 0, sentAt);
      else if (status === 401 && sentAt > revokedAt) refusals[node] = (refusals[node] ?? 0) + 1;
    }
  };
  const revokeOnceUsed = async (): Promise<void> => {
    await eventually(() => lastAdmittedAt.every((at) => at > 0));
    await revoke();
    revokedAt = performance.now();
  };
  const loops = urls.flatMap((url, node) => Array.from({ length: LOOPS }, () => hammer(url, node)));
  await Promise.all([...loops, revokeOnceUsed()]);
  return lastAdmittedAt.map((at) => at - revokedAt);
}
