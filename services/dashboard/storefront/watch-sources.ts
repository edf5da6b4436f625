import { z } from 'zod';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { plainGet } from '../../kit/plain-get';
import { type LiveSources } from '../http/dashboard-deps';
import { type LiveSource } from '../contract/plans';

export interface WatchSourcesOptions {
  /** Base URLs of the private servers of services and workers. */
  readonly urls: readonly string[];
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Log;
  /** Between two rounds of questions. Default 15 s. */
  readonly pollMs?: number;
}

/** Sources come and go with a restart of the process that asks them, which is seldom. */
const POLL_MS = 15_000;
/** The answer is in the process's memory. */
const ANSWER_MS = 2_000;
const MAX_BYTES = 65_536;
/** A restart takes less. Of who is silent for longer nothing is known. */
const KNOWN_FOR_MS = 120_000;

const answerSchema = z.object({ products: z.record(z.string().max(64), z.boolean()) });

interface Heard {
  readonly atMs: number;
  readonly products: Readonly<Record<string, boolean>>;
}

async function ask(url: string): Promise<Heard['products']> {
  const { status, body } = await plainGet(new URL('/live', url), { signal: AbortSignal.timeout(ANSWER_MS), maxBytes: MAX_BYTES });
  if (status !== 200) throw new Error(`answered ${status}`);
  return answerSchema.parse(JSON.parse(body.toString())).products;
}

/** Of several who know a product all must have what it needs: a call may go to any of them. */
function combine(heard: Iterable<Heard>): ReadonlyMap<string, boolean> {
  const all = new Map<string, boolean>();
  for (const { products } of heard) {
    for (const [product, isLive] of Object.entries(products)) all.set(product, isLive && (all.get(product) ?? true));
  }
  return all;
}

/** Asks in the background and keeps the answers, so that no page waits for them. */
export class WatchedSources implements LiveSources {
  private readonly heard = new Map<string, Heard>();
  private known: ReadonlyMap<string, LiveSource> = new Map();
  private asking: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WatchSourcesOptions) {
    if (options.urls.length === 0) return;
    void this.look();
    this.timer = setInterval(() => void this.look(), options.pollMs ?? POLL_MS).unref();
  }

  /** One round; the present one where it is still under way. Never fails. */
  look(): Promise<void> {
    this.asking ??= this.askAll().finally(() => (this.asking = undefined));
    return this.asking;
  }

  find(product: string): LiveSource | null {
    return this.known.get(product) ?? null;
  }

  revision(): string {
    return [...this.known].map(([product, { isThere, since }]) => `${product}=${isThere} ${since}`).join();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.asking;
  }

  private async askAll(): Promise<void> {
    const { urls, clock, log } = this.options;
    await Promise.all(
      urls.map(async (url) => {
        try {
          this.heard.set(url, { atMs: clock.monotonic(), products: await ask(url) });
        } catch (err) {
          log.debug({ err, url }, 'a process does not say which products have a live source');
          const last = this.heard.get(url);
          if (last && clock.monotonic() - last.atMs > KNOWN_FOR_MS) this.heard.delete(url);
        }
      }),
    );
    const since = new Date(clock.now()).toISOString();
    const now = [...combine(this.heard.values())].sort(([left], [right]) => (left < right ? -1 : 1));
    this.known = new Map(
      now.map(([product, isThere]) => {
        const before = this.known.get(product);
        return [product, before?.isThere === isThere ? before : { isThere, since }];
      }),
    );
  }
}
