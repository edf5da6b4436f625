import { randomBytes } from 'node:crypto';
import { type PlaceOwner, Places, type ReleasePlace } from '../../kit/places';

/** The caller that opened a session. No other caller can use it or learn of it. */
export type SessionOwner = PlaceOwner;

interface Entry<S> {
  readonly owner: SessionOwner;
  readonly openedAtMs: number;
  readonly release: ReleasePlace;
  session: S;
}

export interface SessionTableOptions {
  /** Milliseconds after which a session is forgotten, whatever its state. */
  readonly longestMs: number;
  /** Maximum sessions and starts at a time; more are refused. Test keys get half of them. */
  readonly most: number;
  /** Maximum sessions of one subscription. */
  readonly mostOfOne: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** 128 bits, so that an id cannot be guessed. */
const ID_BYTES = 16;

/** The sessions of one product in this worker's memory. Entries are in order of age, so forgetting is cheap. */
export class SessionTable<S> {
  private readonly entries = new Map<string, Entry<S>>();
  private readonly places: Places;

  constructor(private readonly options: SessionTableOptions) {
    const { most, mostOfOne } = options;
    this.places = new Places({
      most,
      mostOfOne,
      fullDetail: 'Too many sessions are open. Try again shortly.',
      ownFullDetail: `This subscription has ${mostOfOne} open sessions. Finish one, or wait until one has ended.`,
    });
  }

  /** Number of open sessions. */
  get size(): number {
    this.forgetOld();
    return this.entries.size;
  }

  /**
   * Reserves a place while a session is being opened.
   * @param open returns the session's first state
   * @returns what `open` returned, with the new id
   * @throws ServiceError 429 `concurrency_exceeded` when the subscription has all the sessions that it may have; 503 `service_not_ready`
   * when the table is full, or full for test keys; whatever `open` throws
   */
  async open<T extends { readonly session: S }>(owner: SessionOwner, open: () => Promise<T>): Promise<T & { readonly id: string }> {
    this.forgetOld();
    const release = this.places.take(owner);
    try {
      const opened = await open();
      const id = randomBytes(ID_BYTES).toString('hex');
      this.entries.set(id, { owner, openedAtMs: this.options.now(), release, session: opened.session });
      return { ...opened, id };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Finds a session. Undefined if it is unknown, forgotten or another owner's. */
  find(id: string, owner: SessionOwner): S | undefined {
    this.forgetOld();
    const entry = this.entries.get(id);
    if (!entry || entry.owner.subscriptionId !== owner.subscriptionId || entry.owner.mode !== owner.mode) return undefined;
    return entry.session;
  }

  /** Replaces a session; undefined ends it. A session that was forgotten meanwhile stays forgotten. */
  replace(id: string, session: S | undefined): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    if (session === undefined) this.forget(id, entry);
    else entry.session = session;
  }

  private forgetOld(): void {
    const oldest = this.options.now() - this.options.longestMs;
    for (const [id, entry] of this.entries) {
      if (entry.openedAtMs > oldest) return;
      this.forget(id, entry);
    }
  }

  private forget(id: string, { release }: Entry<S>): void {
    this.entries.delete(id);
    release();
  }
}
