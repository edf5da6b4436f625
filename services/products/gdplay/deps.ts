import { type LinkKeys } from '../../../plugins/core/proof/access-link';
import { type ServiceTools } from '../../kit/service/define-service';
import { sandboxAt } from '../../kit/upstream/upstream-target';
import { ApiDirectory } from './api-directory';
import { DescribedFiles } from './described-files';
import { type DriveDirectory } from './drive-file';
import { DriveTransport } from './drive-transport';
import { PublicDirectory } from './public-directory';
import { type GdplaySettings } from './settings';
import { Viewings } from './viewings';

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
