import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { type Log } from '../../../kit/log';
import { type Metrics } from '../../../kit/metrics';
import { type LinkTimings } from '../../../kit/upstream/link-connection';
import { UpstreamClient } from '../../../kit/upstream/upstream-client';
import { LinksByMode, type LinkTarget } from '../../../kit/upstream/links-by-mode';
import { sandboxAt } from '../../../kit/upstream/upstream-target';
import { randomCaptchaText, testCaptchaText } from '../captcha/captcha-text';
import { type IdentityWorkerSettings } from '../settings';
import { createAadhaarLink } from './aadhaar-link';
import { AadhaarProvider, type CaptchaTexts } from './aadhaar-provider';
import { createAadhaarProviderClient } from './aadhaar-provider-client';
import { GstPortal } from './gst-portal';
import { createGstLink } from './gst-link';
import { UpstreamLink } from './upstream-link';
import { type AadhaarUpstream, type GstUpstream } from './upstreams';

export interface IdentityUpstreams {
  readonly aadhaar: AadhaarUpstream;
  readonly gst: GstUpstream;
  close(): Promise<void>;
}

export interface UpstreamTools {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Of live keys; random unless a test must solve them. */
  readonly captchaTexts?: CaptchaTexts | undefined;
}

const FIRST_RETRY_MS = 250;
const SLOWEST_RETRY_MS = 30_000;
/** Not a secret: the sandbox takes any key. */
const SANDBOX_KEY = 'sandbox';

function timingsOf(settings: IdentityWorkerSettings): LinkTimings {
  return {
    messageMs: settings.IDENTITY_MESSAGE_TIMEOUT_MS,
    connectMs: settings.IDENTITY_CONNECT_TIMEOUT_MS,
    heartbeatMs: settings.IDENTITY_HEARTBEAT_MS,
    retry: { firstMs: FIRST_RETRY_MS, slowestMs: SLOWEST_RETRY_MS },
  };
}

type Links = LinksByMode<UpstreamLink>;

function createLinks(settings: IdentityWorkerSettings, tools: UpstreamTools): { gst: Links; aadhaar: Links } {
  const timings = timingsOf(settings);
  const linksTo = (upstream: 'gst' | 'aadhaar', live: Omit<LinkTarget, 'sandboxUrl'>): Links => {
    const target = { ...live, sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, `/identity/${upstream}`) };
    const { metrics } = tools;
    return new LinksByMode(
      target,
      (place, link) => new UpstreamLink({ ...place, timings, upstream, metrics, log: tools.log.child({ upstream, link }) }),
    );
  };
  return {
    gst: linksTo('gst', { liveUrl: settings.GST_LINK_URL, liveSetting: 'GST_LINK_URL', liveToken: settings.GST_LINK_TOKEN }),
    aadhaar: linksTo('aadhaar', {
      liveUrl: settings.AADHAAR_LINK_URL,
      liveSetting: 'AADHAAR_LINK_URL',
      liveToken: settings.AADHAAR_LINK_TOKEN,
    }),
  };
}

/** The link of a mode, opened by the first message. */
function viaLink(links: Links, mode: KeyMode): Pick<UpstreamLink, 'start' | 'exchange'> {
  return {
    start: (message, signal) => links.linkFor(mode).start(message, signal),
    exchange: (message, signal) => links.linkFor(mode).exchange(message, signal),
  };
}

function keyHeader(name: string, key: string): Readonly<Record<string, string>> {
  return { [name]: name.toLowerCase() === 'authorization' ? `Bearer ${key}` : key };
}

function createProvider(settings: IdentityWorkerSettings, { clock, captchaTexts, metrics }: UpstreamTools) {
  const { AADHAAR_PROVIDER_KEY_HEADER: name, AADHAAR_PROVIDER_KEY: key = '' } = settings;
  const client = new UpstreamClient({
    name: 'aadhaar_provider',
    target: {
      liveUrl: settings.AADHAAR_PROVIDER_URL,
      liveSetting: 'AADHAAR_PROVIDER_URL',
      sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, '/aadhaar-provider'),
    },
    timeoutMs: settings.IDENTITY_MESSAGE_TIMEOUT_MS,
    metrics,
    headers: { accept: 'application/json' },
  });
  const headers = { live: keyHeader(name, key), test: keyHeader(name, SANDBOX_KEY) };
  const upstream = new AadhaarProvider({
    provider: createAadhaarProviderClient({ client, headers }),
    captchas: { live: captchaTexts ?? randomCaptchaText, test: testCaptchaText },
    clock,
    mostSessions: settings.IDENTITY_MOST_SESSIONS,
  });
  return { upstream, client };
}

function createPortal(settings: IdentityWorkerSettings, { clock, metrics }: UpstreamTools) {
  const client = new UpstreamClient({
    name: 'gst_portal',
    target: {
      liveUrl: settings.GST_PORTAL_URL,
      liveSetting: 'GST_PORTAL_URL',
      sandboxUrl: sandboxAt({ sandboxUrl: settings.SANDBOX_URL }, '/gst-portal'),
    },
    timeoutMs: settings.IDENTITY_MESSAGE_TIMEOUT_MS,
    metrics,
    headers: { accept: 'application/json, image/png, */*' },
  });
  return { upstream: new GstPortal({ client, clock, mostSessions: settings.IDENTITY_MOST_SESSIONS }), client };
}

/** Each call goes to the upstream of its mode; a session never changes its mode. */
function aadhaarBy(upstreams: Readonly<Record<KeyMode, AadhaarUpstream>>): AadhaarUpstream {
  return {
    start: (aadhaar, call) => upstreams[call.mode].start(aadhaar, call),
    checkCaptcha: (id, captcha, call) => upstreams[call.mode].checkCaptcha(id, captcha, call),
    checkOtp: (id, otp, call) => upstreams[call.mode].checkOtp(id, otp, call),
  };
}

/** See {@link aadhaarBy}. */
function gstBy(upstreams: Readonly<Record<KeyMode, GstUpstream>>): GstUpstream {
  return {
    start: (call) => upstreams[call.mode].start(call),
    refresh: (id, call) => upstreams[call.mode].refresh(id, call),
    submit: (id, entry, call) => upstreams[call.mode].submit(id, entry, call),
  };
}

/** All adapters; the settings say which one serves live keys and which one test keys. Nothing is connected yet. */
export function createIdentityUpstreams(settings: IdentityWorkerSettings, tools: UpstreamTools): IdentityUpstreams {
  const links = createLinks(settings, tools);
  const [provider, portal] = [createProvider(settings, tools), createPortal(settings, tools)];
  const liveAadhaar = settings.AADHAAR_SOURCE ?? (settings.AADHAAR_PROVIDER_URL === undefined ? 'link' : 'provider');
  const liveGst = settings.GST_SOURCE ?? (settings.GST_PORTAL_URL === undefined ? 'link' : 'portal');
  const aadhaarOf = (source: 'link' | 'provider', mode: KeyMode): AadhaarUpstream =>
    source === 'link' ? createAadhaarLink(viaLink(links.aadhaar, mode)) : provider.upstream;
  const gstOf = (source: 'link' | 'portal', mode: KeyMode): GstUpstream =>
    source === 'link' ? createGstLink(viaLink(links.gst, mode)) : portal.upstream;
  return {
    aadhaar: aadhaarBy({ live: aadhaarOf(liveAadhaar, 'live'), test: aadhaarOf(settings.AADHAAR_TEST_SOURCE, 'test') }),
    gst: gstBy({ live: gstOf(liveGst, 'live'), test: gstOf(settings.GST_TEST_SOURCE, 'test') }),
    close: async () => {
      links.gst.close();
      links.aadhaar.close();
      provider.upstream.close();
      await Promise.all([provider.client.close(), portal.client.close()]);
    },
  };
}
