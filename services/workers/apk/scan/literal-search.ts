/** Maximum bytes of a match. */
export const WINDOW_BYTES = 2_048;

/**
 * Finds the matches of a pattern in a text that arrives in pieces. Takes time linear in the bytes: the pattern is tried only where its
 * literal occurs, within a bounded window, and no more often than the caller allows.
 */
export class LiteralSearch {
  /** Bytes of the text before the current piece. */
  private passed = 0;
  /** No match begins before this byte of the text, because an earlier match covers it. */
  private resumeAt = 0;

  constructor(
    private readonly literal: string,
    private readonly pattern: RegExp,
  ) {}

  /**
   * @param text latin1; begins where the last `advance` ended
   * @param end matches begin before this character; the rest only completes them
   * @param mayTry called before each place; false ends the search
   */
  *matches(text: string, end: number, mayTry: () => boolean): Generator<string> {
    for (let at = this.find(text, Math.max(this.resumeAt - this.passed, 0)); at >= 0 && at < end;) {
      if (!mayTry()) return;
      this.pattern.lastIndex = 0;
      const match = this.pattern.exec(text.slice(at, at + WINDOW_BYTES))?.[0];
      if (match !== undefined) yield match;
      const next = at + (match ?? this.literal).length;
      this.resumeAt = this.passed + next;
      at = this.find(text, next);
    }
  }

  private find(text: string, from: number): number {
    return text.indexOf(this.literal, from);
  }

  /** Moves on: the next text begins this many characters later. */
  advance(characters: number): void {
    this.passed += characters;
  }
}
