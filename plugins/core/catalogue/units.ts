/** What a request costs, if its response says so. */
export interface UnitsByAnswer {
  /** Taken before the call. What the answer says is settled against it. */
  readonly reserve: number;
  /** What one response may cost at the most. */
  readonly most: number;
}

/** The header in which an API says what its response costs. The access logs of all gateways name it, so all products share it. */
export const UNITS_HEADER = 'X-Units';

/** A longer one is a mistake, and HAProxy's log leaves it out. */
const NUMBER = /^\d{1,30}$/;

/**
 * What a request costs.
 * @param told the value of {@link UNITS_HEADER}, of which anything but a number counts as none; undefined where the API sent none, or the
 * gateway does not tell it
 * @param taken in advance
 * @param most that an answer may cost; undefined where answers do not say it
 */
export function unitsOf(told: string | undefined, taken: number, most: number | undefined): number {
  if (most === undefined || told === undefined || !NUMBER.test(told)) return taken;
  return Math.min(Number(told), most);
}
