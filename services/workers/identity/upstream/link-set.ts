import { type KeyMode } from '../../../../plugins/core/ports';
import { type Log } from '../../../kit/log';
import { type Metrics } from '../../../kit/metrics';
import { type LinkTimings } from '../../../kit/upstream/link-connection';
import { baseUrlFor, type UpstreamTarget } from '../../../kit/upstream/upstream-target';
import { createAadhaarLink } from './aadhaar-link';
import { createGstLink } from './gst-link';
import { UpstreamLink } from './upstream-link';
import { type AadhaarUpstream, type GstUpstream } from './upstreams';

export interface LinkTarget extends UpstreamTarget {
  /** For the live upstream; the sandbox is never told. */
  readonly liveToken: string | undefined;
}

export interface LinkSetOptions {
  /** For metrics and traces. */
  readonly upstream: string;
  readonly metrics: Metrics;
  readonly target: LinkTarget;
  readonly timings: LinkTimings;
  readonly log: Log;
}

/** The live link and the sandbox's, each opened when a call first needs it. */
export class LinkSet {
  private readonly links = new Map<KeyMode, UpstreamLink>();

  constructor(private readonly options: LinkSetOptions) {}

  /** @throws ServiceError 503 `upstream_not_configured` */
  linkFor(mode: KeyMode): UpstreamLink {
    const known = this.links.get(mode);
    if (known) return known;
    const { target, timings, log, upstream, metrics } = this.options;
    const url = baseUrlFor(target, mode).replace(/^http/, 'ws');
    const token = mode === 'live' ? target.liveToken : undefined;
    const link = new UpstreamLink({ url, token, timings, log: log.child({ link: mode }), upstream, metrics });
    this.links.set(mode, link);
    return link;
  }

  close(): void {
    for (const link of this.links.values()) link.close();
  }
}

/** The mode of each call decides which link it takes. */
export function gstOverLinks(links: LinkSet): GstUpstream {
  const upstream = (mode: KeyMode): GstUpstream => createGstLink(links.linkFor(mode));
  return {
    start: async (call) => upstream(call.mode).start(call),
    refresh: async (id, call) => upstream(call.mode).refresh(id, call),
    submit: async (id, entry, call) => upstream(call.mode).submit(id, entry, call),
  };
}

/** See {@link gstOverLinks}. */
export function aadhaarOverLinks(links: LinkSet): AadhaarUpstream {
  const upstream = (mode: KeyMode): AadhaarUpstream => createAadhaarLink(links.linkFor(mode));
  return {
    start: async (aadhaar, call) => upstream(call.mode).start(aadhaar, call),
    checkCaptcha: async (id, captcha, call) => upstream(call.mode).checkCaptcha(id, captcha, call),
    checkOtp: async (id, otp, call) => upstream(call.mode).checkOtp(id, otp, call),
  };
}
