import { z } from 'zod';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { plainGet } from '../../kit/plain-get';
import { type KnownSource, type LiveSources } from '../http/dashboard-deps';
import { type OpenedRoute } from '../contract/plans';

export interface WatchSourcesOptions {
  /** Base URLs of the private servers of services and workers. */
  readonly urls: readonly string[];
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Log;
  /** Pause between two rounds of questions. Default 15 s. */
  readonly pollMs?: number;
}

/** Sources change only when the process that reports them restarts, which is seldom. */
const POLL_MS = 15_000;
/** The response comes from the process's memory. */
const ANSWER_MS = 2_000;
const MAX_BYTES = 65_536;
/** A restart takes less. A process that is silent for longer is unknown. */
const KNOWN_FOR_MS = 120_000;

const product = z.string().max(64);
const route = z.object({
  path: z.string().max(256),
  opens: z.enum(['always', 'in_part', 'kept', 'with_source', 'about']),
  only: z.string().max(256).optional(),
  of: product.optional(),
});
const answerSchema = z.object({
  products: z.record(product, z.boolean()),
  routes: z.record(product, z.array(route).max(64)).default({}),
  data: z.record(product, z.array(z.object({ name: z.string().max(64), asOf: z.iso.datetime().nullable() })).max(32)).default({}),
});

interface Heard extends z.output<typeof answerSchema> {
  readonly atMs: number;
}

async function ask(url: string): Promise<z.output<typeof answerSchema>> {
  const { status, body } = await plainGet(new URL('/live', url), { signal: AbortSignal.timeout(ANSWER_MS), maxBytes: MAX_BYTES });
  if (status !== 200) throw new Error(`answered ${status}`);
  return answerSchema.parse(JSON.parse(body.toString()));
}

/** If several processes know a product, all must have what it needs: a call may go to any of them. */
function combine(heard: Iterable<Heard>): ReadonlyMap<string, boolean> {
  const all = new Map<string, boolean>();
  for (const { products } of heard) {
    for (const [product, isLive] of Object.entries(products)) all.set(product, isLive && (all.get(product) ?? true));
  }
  return all;
}

/**
 * What a live key gets from a route now.
 * @param live the products whose source is set
 */
function openedBy(
  { path, opens, only = '', of }: z.output<typeof route>,
  isThere: boolean,
  live: ReadonlyMap<string, boolean>,
): OpenedRoute {
  if (opens === 'about') return { path, state: 'about', only: '' };
  if (opens === 'always' || (of === undefined ? isThere : (live.get(of) ?? isThere))) return { path, state: 'open', only: '' };
  return { path, state: opens === 'with_source' ? 'refused' : opens, only };
}

/** Asks in the background and keeps the responses, so that no page waits for them. */
export class WatchedSources implements LiveSources {
  private readonly heard = new Map<string, Heard>();
  private known: ReadonlyMap<string, KnownSource> = new Map();
  private asking: Promise<void> | undefined;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: WatchSourcesOptions) {
    if (options.urls.length === 0) return;
    void this.look();
    this.timer = setInterval(() => void this.look(), options.pollMs ?? POLL_MS).unref();
  }

  /** One round; the running one if there is one. Never fails. */
  look(): Promise<void> {
    this.asking ??= this.askAll().finally(() => (this.asking = undefined));
    return this.asking;
  }

  find(product: string): KnownSource | null {
    return this.known.get(product) ?? null;
  }

  revision(): string {
    return [...this.known].map((each) => JSON.stringify(each)).join();
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
          this.heard.set(url, { atMs: clock.monotonic(), ...(await ask(url)) });
        } catch (err) {
          log.debug({ err, url }, 'a process does not say which products have a live source');
          const last = this.heard.get(url);
          if (last && clock.monotonic() - last.atMs > KNOWN_FOR_MS) this.heard.delete(url);
        }
      }),
    );
    const since = new Date(clock.now()).toISOString();
    const live = combine(this.heard.values());
    const now = [...live].sort(([left], [right]) => (left < right ? -1 : 1));
    const routes = new Map([...this.heard.values()].flatMap((each) => Object.entries(each.routes)));
    const data = new Map([...this.heard.values()].flatMap((each) => Object.entries(each.data).map(([id, known]) => [id, { data: known }])));
    this.known = new Map(
      now.map(([id, isThere]) => {
        const before = this.known.get(id);
        const opened = (routes.get(id) ?? []).map((each) => openedBy(each, isThere, live));
        return [id, { isThere, since: before?.isThere === isThere ? before.since : since, routes: opened, ...data.get(id) }];
      }),
    );
  }
}
