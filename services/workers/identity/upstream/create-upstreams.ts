import { z } from 'zod';
import type { Clock, KeyMode } from '../../../../plugins/core/ports';
import type { Log } from '../../../kit/log';
import type { Metrics } from '../../../kit/metrics';
import type { LinkTimings } from '../../../kit/upstream/link-connection';
import { UpstreamClient } from '../../../kit/upstream/upstream-client';
import { LinksByMode, type LinkTarget } from '../../../kit/upstream/links-by-mode';
import { sandboxAt } from '../../../kit/upstream/upstream-target';
import { randomCaptchaText, testCaptchaText } from '../captcha/captcha-text';
import type { IdentityWorkerSettings } from '../settings';
import { AadhaarProvider, type CaptchaTexts } from './aadhaar-provider';
import { createAadhaarProviderClient } from './aadhaar-provider-client';
import { GstPortal } from './gst-portal';
import { UpstreamLink, type LinkFrame } from './upstream-link';
import type { AadhaarUpstream, GstUpstream, UpstreamSession } from './upstreams';
import { parseHolderRecord } from './holder-record';
import { checkGstRecord } from './gst-record';
import { badAnswer, processingFailed, sourceError, SourceFailure, upstreamTimedOut } from './source-failure';
import { parseCaptchaText } from './captcha-image';
import { throttledBySource } from '../refusals';

export interface IdentityUpstreams {
  readonly aadhaar: AadhaarUpstream;
  readonly gst: GstUpstream;
  close(): Promise<void>;
}

export interface UpstreamTools {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Texts of the captchas for live keys. They are random unless a test must solve them. */
  readonly captchaTexts?: CaptchaTexts | undefined;
}

const FIRST_RETRY_MS = 250;
const SLOWEST_RETRY_MS = 30_000;
/** Not a secret: the sandbox accepts any key. */
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

/** The link for a mode. It opens with the first message. */
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

/** Sends each call to the upstream of its mode. A session never changes its mode. */
function aadhaarBy(upstreams: Readonly<Record<KeyMode, AadhaarUpstream>>): AadhaarUpstream {
  return {
    start: (aadhaar, call) => upstreams[call.mode].start(aadhaar, call),
    checkCaptcha: (id, captcha, call) => upstreams[call.mode].checkCaptcha(id, captcha, call),
    checkOtp: (id, otp, call) => upstreams[call.mode].checkOtp(id, otp, call),
  };
}

/** Like {@link aadhaarBy}, for tax-registration records. */
function gstBy(upstreams: Readonly<Record<KeyMode, GstUpstream>>): GstUpstream {
  return {
    start: (call) => upstreams[call.mode].start(call),
    refresh: (id, call) => upstreams[call.mode].refresh(id, call),
    submit: (id, entry, call) => upstreams[call.mode].submit(id, entry, call),
  };
}

/** Creates all adapters. The settings choose one for live keys and one for test keys. Nothing connects yet. */
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

/** Aadhaar verification over the WebSocket link. */
function createAadhaarLink(link: Pick<UpstreamLink, 'start' | 'exchange'>): AadhaarUpstream {
  return {
    start: async (aadhaar, { signal }) => {
      const frame = await link.start({ type: 'start', aadhaar }, signal);
      if (frame.type === 'captcha') return parseCaptchaFrame(frame);
      knownErrorOf(frame, ['not_found']);
      return undefined;
    },
    checkCaptcha: async (sessionId, captcha, { signal }) => {
      const frame = await link.exchange({ type: 'captcha', sessionId, captcha }, signal);
      if (frame.type === 'otp_required') return { kind: 'otp_sent' };
      if (frame.type === 'captcha') return { kind: 'captcha_rejected', image: parseCaptchaFrame(frame).image };
      const code = knownErrorOf(frame, ['captcha_rejected', 'session_unknown', 'not_found']);
      if (code !== 'captcha_rejected') return { kind: code };
      const next = await link.exchange({ type: 'refresh', sessionId }, signal);
      if (next.type === 'captcha') return { kind: 'captcha_rejected', image: parseCaptchaFrame(next).image };
      return { kind: knownErrorOf(next, ['session_unknown']) };
    },
    checkOtp: async (sessionId, otp, { signal }) => {
      const frame = await link.exchange({ type: 'otp', sessionId, otp }, signal);
      if (frame.type === 'result') return { kind: 'record', record: parseHolderRecord(frame.payload) };
      return { kind: knownErrorOf(frame, ['otp_invalid', 'otp_expired', 'session_unknown']) };
    },
  };
}

/** Tax-registration records over the WebSocket link. */
function createGstLink(link: Pick<UpstreamLink, 'start' | 'exchange'>): GstUpstream {
  return {
    start: async ({ signal }) => {
      const frame = await link.start({ type: 'start' }, signal);
      if (frame.type !== 'captcha') knownErrorOf(frame, []);
      return parseCaptchaFrame(frame);
    },
    refresh: async (sessionId, { signal }) => {
      const frame = await link.exchange({ type: 'refresh', sessionId }, signal);
      if (frame.type === 'captcha') return { kind: 'captcha', image: parseCaptchaFrame(frame).image };
      return { kind: knownErrorOf(frame, ['session_unknown']) };
    },
    submit: async (sessionId, { gstin, captcha }, { signal }) => {
      const frame = await link.exchange({ type: 'data', sessionId, gstin, captcha }, signal);
      if (frame.type !== 'result') return { kind: knownErrorOf(frame, ['captcha_rejected', 'not_found', 'session_unknown']) };
      checkGstRecord(frame.payload, gstin);
      if (frame.payloadJson === undefined) throw badAnswer('a result has no payload');
      return { kind: 'record', payloadJson: frame.payloadJson };
    },
  };
}

/** Maximum characters of a captcha, whose usual size is a few kilobytes. */
const MAX_IMAGE_CHARACTERS = 700_000;

const captchaFrame = z.object({ sessionId: z.string().min(1).max(512), captcha: z.string().min(1).max(MAX_IMAGE_CHARACTERS) });

/** @throws ServiceError 502 */
function parseCaptchaFrame(frame: LinkFrame): UpstreamSession {
  const parsed = captchaFrame.safeParse(frame);
  if (!parsed.success) throw badAnswer('a captcha frame has the wrong form');
  return { upstreamId: parsed.data.sessionId, image: parseCaptchaText(parsed.data.captcha) };
}

/**
 * The code of an error frame, if this step expects it.
 * @throws ServiceError 504 for `timeout`, 400 for `otp_throttled`, 500 for `processing`, 502 for `upstream`, for every other code, and for
 * a frame of an unexpected type
 */
function knownErrorOf<Code extends string>(frame: LinkFrame, known: readonly Code[]): Code {
  if (frame.type !== 'error') throw badAnswer('the upstream responded out of turn');
  const { code } = frame;
  const found = known.find((each) => each === code);
  if (found !== undefined) return found;
  if (code === 'timeout') throw upstreamTimedOut();
  if (code === 'otp_throttled') throw throttledBySource(frame);
  if (code === 'processing') throw processingFailed();
  if (code === 'upstream') throw sourceError(new SourceFailure('upstream_error', 'the upstream reports that it failed'));
  throw badAnswer('the upstream refused for an unknown reason');
}
