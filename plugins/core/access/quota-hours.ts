import { type QuotaWindows, windowsAt } from './quota';

/** An hour of a day in the quota time zone. */
export interface QuotaHour {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** Whole hours since the day began, 0 to 24. */
  readonly hour: number;
}

/** Finds hours of quota days. It remembers one day's bounds: nearly every moment lies in the day of the one before it. */
export class QuotaHours {
  private windows: QuotaWindows | undefined;

  /** @param timeZone quota time zone */
  constructor(private readonly timeZone: string) {}

  /** @param atMs Unix milliseconds */
  at(atMs: number): QuotaHour {
    const at = atMs / 1_000;
    if (!this.windows || at < this.windows.dayStartsAt || at >= this.windows.dayEndsAt) this.windows = windowsAt(at, this.timeZone);
    const { day, dayStartsAt } = this.windows;
    return { day, hour: Math.floor((at - dayStartsAt) / 3_600) };
  }
}
