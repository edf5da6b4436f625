import { randomBytes } from 'node:crypto';
import { type KeyMode } from '../../../plugins/core/ports';
import { ServiceError } from '../../kit/errors';

/** Who opened a session. Nobody else can use it, and cannot learn that it exists. */
export interface SessionOwner {
  readonly subscriptionId: string;
  readonly mode: KeyMode;
}

interface Entry<S> {
  readonly owner: SessionOwner;
  readonly openedAtMs: number;
  session: S;
}

export interface SessionTableOptions {
  /** Milliseconds after which a session is forgotten, whatever its state. */
  readonly longestMs: number;
  /** Sessions and starts under way; more are refused. */
  readonly most: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** 128 bits: not to be guessed. */
const ID_BYTES = 16;

/** The sessions of one product in this worker's memory. Forgetting costs nothing: entries are in order of age. */
export class SessionTable<S> {
  private readonly entries = new Map<string, Entry<S>>();
  private starting = 0;

  constructor(private readonly options: SessionTableOptions) {}

  /** Open sessions. */
  get size(): number {
    this.forgetOld();
    return this.entries.size;
  }

  /**
   * Keeps a place while a session is being opened.
   * @param open gives the session's first state
   * @returns what `open` returned, with the new id
   * @throws ServiceError 503 `service_not_ready` when the table is full; whatever `open` throws
   */
  async open<T extends { readonly session: S }>(owner: SessionOwner, open: () => Promise<T>): Promise<T & { readonly id: string }> {
    if (this.size + this.starting >= this.options.most) {
      throw new ServiceError('service_not_ready', { detail: 'Too many sessions are open. Try again shortly.' });
    }
    this.starting++;
    try {
      const opened = await open();
      const id = randomBytes(ID_BYTES).toString('hex');
      this.entries.set(id, { owner, openedAtMs: this.options.now(), session: opened.session });
      return { ...opened, id };
    } finally {
      this.starting--;
    }
  }

  /** Undefined for an unknown or forgotten session and for one of another owner alike. */
  find(id: string, owner: SessionOwner): S | undefined {
    this.forgetOld();
    const entry = this.entries.get(id);
    if (!entry || entry.owner.subscriptionId !== owner.subscriptionId || entry.owner.mode !== owner.mode) return undefined;
    return entry.session;
  }

  /** Undefined ends the session; one that was forgotten meanwhile stays forgotten. */
  replace(id: string, session: S | undefined): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    if (session === undefined) this.entries.delete(id);
    else entry.session = session;
  }

  private forgetOld(): void {
    const oldest = this.options.now() - this.options.longestMs;
    for (const [id, { openedAtMs }] of this.entries) {
      if (openedAtMs > oldest) return;
      this.entries.delete(id);
    }
  }
}
