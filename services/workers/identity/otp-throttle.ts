/** The number of OTPs that may be sent to one number. */
export interface OtpAllowance {
  readonly most: number;
  readonly windowMs: number;
}

export type ThrottleVerdict = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Permission to send one OTP. Give it back when no OTP was sent. */
type OtpTicket =
  { readonly allowed: true; giveBack(this: void): Promise<void> } | { readonly allowed: false; readonly retryAfterSeconds: number };

/**
 * Protects the holder of a number from a flood of OTPs, whoever requests them. It identifies numbers only by their keyed HMAC. Both methods
 * throw ServiceError 503 `service_not_ready` when the count cannot be read: without a count nothing is sent.
 */
export interface OtpThrottle {
  /** The verdict that {@link take} would give now. */
  check(numberKey: string): Promise<ThrottleVerdict>;
  take(numberKey: string): Promise<OtpTicket>;
}

/**
 * Judges when the next OTP is allowed.
 * @param sentAtMs times of one number within the window, oldest first
 */
export function judgeOtps(sentAtMs: readonly number[], nowMs: number, allowance: OtpAllowance): ThrottleVerdict {
  const blocking = sentAtMs.at(-allowance.most);
  if (blocking === undefined) return { allowed: true };
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((blocking + allowance.windowMs - nowMs) / 1000)) };
}

/** Counts in this process. @param now monotonic milliseconds */
export function createMemoryOtpThrottle(allowance: OtpAllowance, now: () => number): OtpThrottle {
  const sent = new Map<string, readonly number[]>();

  const recent = (numberKey: string): readonly number[] => {
    const since = now() - allowance.windowMs;
    return (sent.get(numberKey) ?? []).filter((each) => each > since);
  };
  const store = (numberKey: string, times: readonly number[]): void => {
    // Deleted first, so that the map keeps the order of last use.
    sent.delete(numberKey);
    if (times.length > 0) sent.set(numberKey, times);
  };
  const forgetOld = (): void => {
    const since = now() - allowance.windowMs;
    for (const [numberKey, times] of sent) {
      if ((times.at(-1) ?? 0) > since) return;
      sent.delete(numberKey);
    }
  };

  return {
    check: (numberKey) => Promise.resolve(judgeOtps(recent(numberKey), now(), allowance)),
    take: (numberKey) => {
      forgetOld();
      const times = recent(numberKey);
      const at = now();
      const verdict = judgeOtps(times, at, allowance);
      if (!verdict.allowed) return Promise.resolve(verdict);
      store(numberKey, [...times, at]);
      return Promise.resolve({
        allowed: true,
        giveBack: () => {
          const left = [...recent(numberKey)];
          const index = left.lastIndexOf(at);
          if (index >= 0) left.splice(index, 1);
          store(numberKey, left);
          return Promise.resolve();
        },
      });
    },
  };
}

/** For the sandbox, which sends no OTP to a real telephone. */
export const unlimitedOtps: OtpThrottle = {
  check: () => Promise.resolve({ allowed: true }),
  take: () => Promise.resolve({ allowed: true, giveBack: () => Promise.resolve() }),
};
