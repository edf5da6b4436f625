import { type PinQuery } from './parse-pin';

/** Why a provider gave no usable result. */
export type FailureReason = 'no_records' | 'bad_response' | 'unreachable' | 'provider_quota' | 'timeout';

/** Whether a provider's response can be used. */
export type Usability = { readonly usable: true } | { readonly usable: false; readonly reason: FailureReason };

export const USABLE: Usability = { usable: true };

export function unusable(reason: FailureReason): Usability {
  return { usable: false, reason };
}

/** A source of post-office details. Pure: it composes the query and judges the response; the caller makes the exchange. */
export interface PinProvider {
  /** The value of `X-Upstream-Provider`. */
  readonly name: string;
  /** Path and query below the provider's base URL, encoded. */
  pathOf(query: PinQuery): string;
  judge(status: number, body: Buffer): Usability;
}

/** The parsed body, or undefined when it is not JSON. */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The meaning of a status outside 2xx, from any provider. */
export function judgeStatus(status: number): Usability {
  if (status === 429) return unusable('provider_quota');
  if (status === 504 || status === 408) return unusable('timeout');
  return unusable(status >= 500 ? 'unreachable' : 'bad_response');
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
