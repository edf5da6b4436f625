import { type SpendRequest } from '../../../plugins/core/ports';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { storeNode } from './harness';

/** What the parent sends: spend this often at once, tell how many were granted. */
interface Order {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  readonly request: SpendRequest;
  readonly times: number;
}

/** A node in a process of its own. It says `ready` when connected and starts when told `go`. */
async function run({ databaseUrl, redisUrl, request, times }: Order): Promise<void> {
  const pool = createPool(databaseUrl, { max: 4 });
  const store = await storeNode({ redisUrl, pool });
  const go = new Promise<void>((resolve) => process.once('message', () => resolve()));
  process.send?.('ready');
  await go;
  // In waves, so that the processes' calls interleave.
  let granted = 0;
  for (let left = times; left > 0; left -= 50) {
    const wave = await Promise.all(Array.from({ length: Math.min(50, left) }, () => store.counter.spend(request)));
    granted += wave.filter((result) => result.granted).length;
  }
  await store.close();
  await pool.end();
  process.send?.({ granted });
  process.disconnect();
}

process.once('message', (order: Order) => void run(order));
