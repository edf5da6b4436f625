import { z } from 'zod';
import { type LinkKeys } from '../../../plugins/core/proof/access-link';
import { linkSettings } from '../../../plugins/core/proof/link-settings';
import { listSetting, numberSetting, urlSetting } from '../../../plugins/core/settings';
import { type ServiceTools } from '../../kit/service/define-service';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { ApiDirectory } from './api-directory';
import { DescribedFiles } from './described-files';
import { type DriveDirectory } from './drive-file';
import { DriveTransport } from './drive-transport';
import { PublicDirectory } from './public-directory';
import { Viewings } from './viewings';

/** Hosts to which Google redirects downloads and images. */
const GOOGLE_HOSTS = ['drive.usercontent.google.com', 'lh3.googleusercontent.com'];
const HOST_NAME = /^(?=.{1,253}$)[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/;

/** Environment of the gdplay service. */
export const gdplaySettings = linkSettings.extend({
  /** A Google API key with the Drive API enabled. Without it, files are fetched like a browser without an account. */
  GDPLAY_API_KEY: z
    .string()
    .regex(/^[\w-]{10,200}$/, 'must be 10 to 200 letters, digits, _ or -')
    .optional(),
  GDPLAY_API_URL: urlSetting().default('https://www.googleapis.com'),
  GDPLAY_WEB_URL: urlSetting().default('https://drive.google.com'),
  /** Hosts besides these two to which redirects and the confirmation form may lead, over https. Exact names. */
  GDPLAY_HOSTS: listSetting()
    .refine((hosts) => hosts.every((host) => HOST_NAME.test(host)), 'must be host names in lower case, separated by commas')
    .default(GOOGLE_HOSTS),
  /** Milliseconds for a response of Drive to begin, and for each gap in it. */
  GDPLAY_TIMEOUT_MS: numberSetting({ min: 100, max: 25_000 }).default(10_000),
  /** Milliseconds within which a stream must make progress, whether Drive or a client that does not read holds it up. */
  GDPLAY_IDLE_TIMEOUT_MS: numberSetting({ min: 100, max: 3_600_000 }).default(60_000),
});

export type GdplaySettings = z.output<typeof gdplaySettings>;

export interface GdplayDeps {
  readonly files: DescribedFiles;
  readonly transport: DriveTransport;
  /** Milliseconds within which a stream must make progress. */
  readonly idleMs: number;
  /** Undefined if links are not set up. */
  readonly linkKeys: LinkKeys | undefined;
  readonly viewings: Viewings;
}

/** The sandbox's API key. */
const SANDBOX_KEY = 'sandbox-key';

/** The connections to Drive, and the look-up of files. Test keys use the same kind of look-up as live keys. */
export function createGdplayDeps({ settings, common, clock, metrics }: ServiceTools<GdplaySettings>): GdplayDeps {
  const transport = new DriveTransport({
    api: { liveUrl: settings.GDPLAY_API_URL, liveSetting: 'GDPLAY_API_URL', sandboxUrl: sandboxAt(common, '/drive/api') },
    web: { liveUrl: settings.GDPLAY_WEB_URL, liveSetting: 'GDPLAY_WEB_URL', sandboxUrl: sandboxAt(common, '/drive/web') },
    hosts: settings.GDPLAY_HOSTS,
    timeoutMs: settings.GDPLAY_TIMEOUT_MS,
    metrics,
  });
  const live = settings.GDPLAY_API_KEY;
  const directory: DriveDirectory =
    live === undefined ? new PublicDirectory(transport) : new ApiDirectory(transport, { live, test: SANDBOX_KEY });
  return {
    files: new DescribedFiles(directory, clock),
    transport,
    idleMs: settings.GDPLAY_IDLE_TIMEOUT_MS,
    linkKeys: settings.GDPLAY_LINK_KEYS,
    viewings: new Viewings(clock),
  };
}
