import { type KeyMode } from '../../../plugins/core/ports';
import { type CommonSettings } from '../service/define-service';
import { notConfigured } from '../errors';

/** Where one upstream is reached: the configured URL for live keys, its simulator for test keys. */
export interface UpstreamTarget {
  /** Base URL, or undefined when it is not configured. */
  readonly liveUrl: string | undefined;
  /** The environment variable that holds it, for the log. */
  readonly liveSetting: string;
  readonly sandboxUrl: string | undefined;
}

/** The URL of a simulator below the sandbox, for example `sandboxAt(common, '/weather/source')`; undefined without a sandbox. */
export function sandboxAt(common: CommonSettings, path: `/${string}`): string | undefined {
  return common.sandboxUrl === undefined ? undefined : common.sandboxUrl + path;
}

/**
 * The base URL for a call, without a trailing slash. It also serves upstreams that are not plain HTTP, with `ws://` URLs.
 * @throws ServiceError 503 `upstream_not_configured`
 */
export function baseUrlFor(target: UpstreamTarget, mode: KeyMode): string {
  const url = mode === 'test' ? target.sandboxUrl : target.liveUrl;
  if (url !== undefined) return url.replace(/\/+$/, '');
  throw notConfigured([mode === 'test' ? 'SANDBOX_URL' : target.liveSetting], mode);
}
