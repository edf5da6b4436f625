import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type Clock } from '../../../../plugins/core/ports';
import { type UpstreamClient, type UpstreamRequest, type UpstreamResponse } from '../../../kit/upstream/upstream-client';
import { GST_LIMITS } from '../gst-session';
import { parseCaptchaBytes } from './captcha-image';
import { type Cookies, cookieHeader, cookiesAfter } from './cookie-jar';
import { checkGstRecord } from './gst-record';
import { exchangeOnce, parseJson, textOf } from './http-exchange';
import { badAnswer, isSettled, SourceFailure } from './source-failure';
import { type GstSubmission, type GstUpstream, type SourceCall } from './upstreams';
import { type CaptchaImage } from '../captcha/draw-captcha';

export interface GstPortalOptions {
  readonly client: Pick<UpstreamClient, 'request'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly mostSessions: number;
}

const WRONG_CAPTCHA = 'SWEB_9000';
const LOCKED_OR_UNKNOWN = 'SWEB_9035';

/** Refusals come with status 200, in two forms. Only the second means that a number does not exist. */
const refusal = z.object({ errorCode: z.string() });
const unknownNumber = z.object({ error: z.object({ error_cd: z.literal(LOCKED_OR_UNKNOWN) }) });

/** Interprets the portal's response to a submission. Without `gstin` in the body nothing was found, whatever the status. */
function judge({ status, bytes }: UpstreamResponse, gstin: string): GstSubmission {
  const text = textOf(bytes);
  const body = parseJson(text);
  if (unknownNumber.safeParse(body).success) return { kind: 'not_found' };
  const code = refusal.safeParse(body).data?.errorCode;
  if (code === WRONG_CAPTCHA) return { kind: 'captcha_rejected' };
  if (code === LOCKED_OR_UNKNOWN) throw new SourceFailure('locked', 'the portal reports that it has locked this caller out');
  if (code !== undefined) throw new SourceFailure('upstream_error', 'the portal refused with an unexpected code');
  if (status !== 200) throw failedWith(status);
  if (!checkGstRecord(body, gstin).isNamed) throw badAnswer('the portal responded without a record');
  return { kind: 'record', payloadJson: text };
}

function failedWith(status: number): SourceFailure {
  return new SourceFailure(status >= 500 ? 'upstream_error' : 'bad_response', `the portal responded with ${status}`);
}

/**
 * The tax portal itself, for sellers who have the right to use it. Captchas are shown to the caller and never solved here. A session
 * consists of the portal's cookies, kept in this process.
 */
export class GstPortal implements GstUpstream {
  private readonly sessions: LRUCache<string, Cookies>;

  constructor(private readonly options: GstPortalOptions) {
    const { clock, mostSessions } = options;
    const perf = { now: () => clock.monotonic() };
    this.sessions = new LRUCache({ max: mostSessions, ttl: GST_LIMITS.lifetimeMs, ttlResolution: 0, noUpdateTTL: true, perf });
  }

  /** Number of sessions. */
  get size(): number {
    return this.sessions.size;
  }

  async start(call: SourceCall): ReturnType<GstUpstream['start']> {
    const upstreamId = randomUUID();
    this.sessions.set(upstreamId, new Map());
    try {
      const page = await this.exchange(upstreamId, { path: '/searchtp' }, call);
      if (page.status !== 200) throw failedWith(page.status);
      return { upstreamId, image: await this.showCaptcha(upstreamId, call) };
    } catch (error) {
      this.sessions.delete(upstreamId);
      throw error;
    }
  }

  async refresh(upstreamId: string, call: SourceCall): ReturnType<GstUpstream['refresh']> {
    if (!this.sessions.has(upstreamId)) return { kind: 'session_unknown' };
    return { kind: 'captcha', image: await this.showCaptcha(upstreamId, call) };
  }

  async submit(upstreamId: string, entry: { gstin: string; captcha: string }, call: SourceCall): Promise<GstSubmission> {
    if (!this.sessions.has(upstreamId)) return { kind: 'session_unknown' };
    const { gstin, captcha } = entry;
    const request = { method: 'POST', path: '/api/search/taxpayerDetails', json: { gstin, captcha } } as const;
    const submission = judge(await this.exchange(upstreamId, request, call), gstin);
    if (submission.kind !== 'captcha_rejected') this.sessions.delete(upstreamId);
    return submission;
  }

  private async showCaptcha(upstreamId: string, call: SourceCall): Promise<CaptchaImage> {
    const { status, bytes } = await this.exchange(upstreamId, { path: '/captcha' }, call);
    if (status !== 200) throw failedWith(status);
    return parseCaptchaBytes(bytes);
  }

  /**
   * Sends a request with the session's cookies, and stores the portal's changes to them. If a reply may still come, the machine ends the
   * session, so it is forgotten here too.
   */
  private async exchange(
    upstreamId: string,
    request: Pick<UpstreamRequest, 'method' | 'path' | 'json'>,
    { mode, signal }: SourceCall,
  ): Promise<UpstreamResponse> {
    const cookies: Cookies = this.sessions.get(upstreamId) ?? new Map<string, string>();
    try {
      const response = await exchangeOnce(this.options.client, { ...request, mode, signal, headers: cookieHeader(cookies) });
      this.sessions.set(upstreamId, cookiesAfter(cookies, response.headers['set-cookie']));
      return response;
    } catch (error) {
      if (!isSettled(error)) this.sessions.delete(upstreamId);
      throw error;
    }
  }
}
