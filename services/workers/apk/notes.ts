import { LIMITS } from './limits';

const LONGEST = 500;

/** The warnings of a report: each said once, and not endlessly many. */
export class Notes {
  private readonly notes = new Set<string>();

  /** An arrow function, so that it can be handed on. */
  readonly add = (note: string): void => {
    if (this.notes.size < LIMITS.warnings) this.notes.add(note.slice(0, LONGEST));
  };

  list(): string[] {
    return [...this.notes];
  }
}
