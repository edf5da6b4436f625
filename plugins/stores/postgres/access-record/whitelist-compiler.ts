import { LRUCache } from 'lru-cache';
import { type Clock, systemClock } from '../../../core/ports';
import { compileSteps, type Whitelist } from '../../../core/access/whitelist';

/** Longest piece of work between two turns of the event loop; a single rule takes up to 0.1 ms. */
const SLICE_MS = 1;
/** Rules of all whitelists that are kept, about 20 MB. */
const MAX_KEPT = 100_000;

export interface WhitelistCompilerOptions {
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** Runs work once everything else that waits has had its turn. Default: setImmediate. */
  readonly nextTurn?: (work: () => void) => void;
}

interface Job {
  readonly steps: Generator<undefined, Whitelist>;
  left: number;
  readonly resolve: (whitelist: Whitelist) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Compiles whitelists in slices of 1 ms, one a turn of the event loop however many wait, those with the fewest rules left first: 10,000
 * rules in one piece would hold up every request of the node for 0.3 s, and several such keys used in turn for seconds. The same rules are
 * not compiled again for every read of a key: without the change feed each request reads.
 */
export class WhitelistCompiler {
  private readonly jobs = new Set<Job>();
  private readonly kept: LRUCache<string, Promise<Whitelist>>;
  private readonly clock: Pick<Clock, 'monotonic'>;
  private readonly nextTurn: (work: () => void) => void;
  private isAwaitingTurn = false;

  constructor({ clock = systemClock, nextTurn = (work) => void setImmediate(work) }: WhitelistCompilerOptions = {}) {
    this.clock = clock;
    this.nextTurn = nextTurn;
    this.kept = new LRUCache({ maxSize: MAX_KEPT });
  }

  /**
   * @param text the rules as stored, with a space between two
   * @param count how many they are
   * @throws Error when one is malformed, as compileSteps
   */
  compile(text: string, count: number): Promise<Whitelist> {
    const known = this.kept.get(text);
    if (known) return known;
    const texts = text === '' ? [] : text.split(' ');
    // A space inside a malformed rule must not make two good ones of it.
    if (texts.length !== count) return Promise.reject(new Error('stored whitelist rule cannot be read: it holds a space'));
    const compiled = this.enqueue(texts);
    if (count > 0) this.kept.set(text, compiled, { size: count });
    compiled.catch(() => this.kept.delete(text));
    return compiled;
  }

  private enqueue(texts: readonly string[]): Promise<Whitelist> {
    return new Promise((resolve, reject) => {
      const job: Job = { steps: compileSteps(texts), left: texts.length, resolve, reject };
      // What is little is done at once, unless others wait: a turn for each would add up.
      this.jobs.add(job);
      if (!this.isAwaitingTurn) this.runSlice();
    });
  }

  private runSlice(): void {
    const until = this.clock.monotonic() + SLICE_MS;
    for (let job = this.shortest(); job; job = this.shortest()) {
      if (!this.work(job, until)) break;
    }
    this.isAwaitingTurn = this.jobs.size > 0;
    if (this.isAwaitingTurn) this.nextTurn(() => this.runSlice());
  }

  /** @returns false when the time is up before the job is done */
  private work(job: Job, until: number): boolean {
    try {
      for (let step = job.steps.next(); ; step = job.steps.next()) {
        if (step.done) {
          this.jobs.delete(job);
          job.resolve(step.value);
          return true;
        }
        job.left -= 1;
        if (this.clock.monotonic() >= until) return false;
      }
    } catch (error) {
      this.jobs.delete(job);
      job.reject(error);
      return true;
    }
  }

  private shortest(): Job | undefined {
    let shortest: Job | undefined;
    for (const job of this.jobs) {
      if (!shortest || job.left < shortest.left) shortest = job;
    }
    return shortest;
  }
}
