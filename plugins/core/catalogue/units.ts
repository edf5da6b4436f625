/** The cost of a request whose response reports it. */
export interface UnitsByAnswer {
  /** Units taken before the call. The cost that the response reports is settled against them. */
  readonly reserve: number;
  /** Maximum cost of one response. */
  readonly most: number;
}

/** The header in which an API reports the cost of its response. All products share it, because the access logs of all gateways name it. */
export const UNITS_HEADER = 'X-Units';

/** A longer number is a mistake, and HAProxy's log omits it. */
const NUMBER = /^\d{1,30}$/;

/**
 * The cost of a request.
 * @param reported the value of {@link UNITS_HEADER}. Anything but a number counts as none. Undefined if the API sent none, or the gateway does
 * not report it.
 * @param taken units taken in advance
 * @param most maximum cost of a response; undefined if responses do not report their cost
 */
export function unitsOf(reported: string | undefined, taken: number, most: number | undefined): number {
  if (most === undefined || reported === undefined || !NUMBER.test(reported)) return taken;
  return Math.min(Number(reported), most);
}
