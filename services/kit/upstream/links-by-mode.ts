import { type KeyMode } from '../../../plugins/core/ports';
import { baseUrlFor, type UpstreamTarget } from './upstream-target';

export interface LinkTarget extends UpstreamTarget {
  /** Token for the live upstream. The sandbox never receives it. */
  readonly liveToken: string | undefined;
}

export interface LinkPlace {
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly token: string | undefined;
}

/** Address of the WebSocket of a mode. @throws ServiceError 503 `upstream_not_configured` */
export function linkPlaceOf(target: LinkTarget, mode: KeyMode): LinkPlace {
  return { url: baseUrlFor(target, mode).replace(/^http/, 'ws'), token: mode === 'live' ? target.liveToken : undefined };
}

/** The live link and the sandbox's link. Each is made when a call first needs it. */
export class LinksByMode<Link extends { close(): void }> {
  private readonly links = new Map<KeyMode, Link>();

  constructor(
    private readonly target: LinkTarget,
    private readonly make: (place: LinkPlace, mode: KeyMode) => Link,
  ) {}

  /** @throws ServiceError 503 `upstream_not_configured` */
  linkFor(mode: KeyMode): Link {
    const known = this.links.get(mode);
    if (known) return known;
    const link = this.make(linkPlaceOf(this.target, mode), mode);
    this.links.set(mode, link);
    return link;
  }

  close(): void {
    for (const link of this.links.values()) link.close();
  }
}
