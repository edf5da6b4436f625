import { z } from 'zod';
import { linkSettings } from '../../../plugins/core/proof/link-settings';
import { listSetting, numberSetting, urlSetting } from '../../../plugins/core/settings';

/** Hosts to which Google sends downloads and pictures. */
const GOOGLE_HOSTS = ['drive.usercontent.google.com', 'lh3.googleusercontent.com'];
const HOST_NAME = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/;

/** Environment of the gdplay service. */
export const gdplaySettings = linkSettings.extend({
  /** A Google API key with the Drive API enabled. Without it files are fetched as a browser without an account does. */
  GDPLAY_API_KEY: z
    .string()
    .regex(/^[\w-]{10,200}$/, 'must be 10 to 200 letters, digits, _ or -')
    .optional(),
  GDPLAY_API_URL: urlSetting().default('https://www.googleapis.com'),
  GDPLAY_WEB_URL: urlSetting().default('https://drive.google.com'),
  /** Besides the two above, the hosts that redirects and the confirmation form may lead to, over https; exact names. */
  GDPLAY_HOSTS: listSetting()
    .refine((hosts) => hosts.every((host) => HOST_NAME.test(host)), 'must be host names in lower case, separated by commas')
    .default(GOOGLE_HOSTS),
  /** Milliseconds for the answer of one exchange with Drive to begin, and for each gap in what it sends. */
  GDPLAY_TIMEOUT_MS: numberSetting({ min: 100, max: 25_000 }).default(10_000),
  /** Milliseconds in which a stream has to move, whether Drive holds it up or a client that does not read. */
  GDPLAY_IDLE_TIMEOUT_MS: numberSetting({ min: 100, max: 3_600_000 }).default(60_000),
});

export type GdplaySettings = z.output<typeof gdplaySettings>;
