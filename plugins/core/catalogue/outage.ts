/** When the seller is told of a product's failures. */
export interface AlertRule {
  /** Percent of the answers of a minute, 1 to 100. */
  readonly failures: number;
  /** Failed answers within that minute. */
  readonly atLeast: number;
}

/** For products without a rule in the catalogue: one failure in five, and enough of them to rule out chance. */
export const USUAL_ALERT: AlertRule = { failures: 20, atLeast: 20 };

/** Answers within a minute, and those with a status of 500 to 599 among them. */
export interface AnsweredMinute {
  readonly answered: number;
  readonly failed: number;
}

/** `unclear`: too few answers to tell, as when calls have stopped. */
export type MinuteVerdict = 'failing' | 'well' | 'unclear';

/** What a minute says of a product. */
export function judgeMinute({ answered, failed }: AnsweredMinute, { failures, atLeast }: AlertRule): MinuteVerdict {
  const isShareReached = answered > 0 && failed * 100 >= failures * answered;
  if (isShareReached && failed >= atLeast) return 'failing';
  return answered > 0 && !isShareReached ? 'well' : 'unclear';
}

/** An outage without calls counts as over after this long without a failure, because no call can end it. */
export const QUIET_MS = 15 * 60_000;

/** Whether an outage is over. @param sinceFailureMs since the latest failure was seen */
export function isOutageOver(verdict: MinuteVerdict, sinceFailureMs: number): boolean {
  return verdict === 'well' || (verdict === 'unclear' && sinceFailureMs >= QUIET_MS);
}
