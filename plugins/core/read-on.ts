import { z } from 'zod';
import { type ReadOn } from './problems';
import { urlSetting } from './settings';

/** A refusal is at most 1 KiB, and names such an address three times. */
const MAX_ADDRESS = 120;

const address = (): z.ZodType<string | undefined> =>
  urlSetting()
    .refine((url) => url.length <= MAX_ADDRESS, `must have at most ${MAX_ADDRESS} characters`)
    .optional();

/** Settings of every process that refuses requests. `ERRORS_URL` is the page of codes, if the dashboard does not serve it. */
export const readOnSettings = z.object({ DASHBOARD_URL: address(), ERRORS_URL: address() }).transform(readOnAt);

function readOnAt({
  DASHBOARD_URL: url,
  ERRORS_URL: errors,
}: {
  DASHBOARD_URL?: string | undefined;
  ERRORS_URL?: string | undefined;
}): ReadOn {
  // The dashboard is at the root of its host.
  const dashboard = url && new URL(url).origin;
  const page = errors ?? (dashboard && `${dashboard}/reference/errors`);
  return {
    errors: page && `${page}#`,
    explain: dashboard && `${dashboard}/explain?request=`,
    plans: dashboard && `${dashboard}/plans?product=`,
  };
}
