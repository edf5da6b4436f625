/** When a product's failures are reported to the seller. */
export interface AlertRule {
  /** Percent of the responses in a minute, 1 to 100. */
  readonly failures: number;
  /** Failed responses within that minute. */
  readonly atLeast: number;
}

/** For products without a rule in the catalogue: one failure in five, and enough failures to rule out chance. */
export const USUAL_ALERT: AlertRule = { failures: 20, atLeast: 20 };

/** Responses within a minute, and those with a status of 500 to 599 among them. */
export interface AnsweredMinute {
  readonly answered: number;
  readonly failed: number;
}

/** `unclear`: too few responses to decide, for example when calls have stopped. */
export type MinuteVerdict = 'failing' | 'well' | 'unclear';

/** The state of a product by its responses of a minute. */
export function judgeMinute({ answered, failed }: AnsweredMinute, { failures, atLeast }: AlertRule): MinuteVerdict {
  const isShareReached = answered > 0 && failed * 100 >= failures * answered;
  if (isShareReached && failed >= atLeast) return 'failing';
  return answered > 0 && !isShareReached ? 'well' : 'unclear';
}

/** An outage without calls counts as over after this long without a failure, because no call can end it. */
const QUIET_MS = 15 * 60_000;

/** Whether an outage is over. @param sinceFailureMs milliseconds since the latest failure was seen */
export function isOutageOver(verdict: MinuteVerdict, sinceFailureMs: number): boolean {
  return verdict === 'well' || (verdict === 'unclear' && sinceFailureMs >= QUIET_MS);
}
