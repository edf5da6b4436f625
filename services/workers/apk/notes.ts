import { LIMITS } from './limits';

const LONGEST = 500;

/** The warnings of a report. Each appears once, and their number is bounded. */
export class Notes {
  private readonly notes = new Set<string>();

  /** An arrow function, so that it can be passed as a callback. */
  readonly add = (note: string): void => {
    if (this.notes.size < LIMITS.warnings) this.notes.add(note.slice(0, LONGEST));
  };

  list(): string[] {
    return [...this.notes];
  }
}
