import { z } from 'zod';
import { type KeyMode } from '../../../../plugins/core/ports';
import { type UpstreamClient } from '../../../kit/upstream/upstream-client';
import { throttledBySource } from '../refusals';
import { parseHolderRecord } from './holder-record';
import { exchangeOnce, parseJson, textOf } from './http-exchange';
import { badAnswer, SourceFailure, upstreamTimedOut } from './source-failure';
import { type AadhaarOtpCheck, type SourceCall } from './upstreams';

export interface AadhaarProviderClientOptions {
  readonly client: Pick<UpstreamClient, 'request'>;
  /** Headers of every request, by mode. They carry the provider's key. The live key is never sent to the sandbox. */
  readonly headers: Readonly<Record<KeyMode, Readonly<Record<string, string>>>>;
}

/** The provider's two requests, described in `docs/products.md`. Both fail as `GstUpstream` describes. */
export interface AadhaarProviderClient {
  requestOtp(aadhaar: string, call: SourceCall): Promise<{ readonly kind: 'sent'; readonly reference: string } | { kind: 'not_found' }>;
  verify(reference: string, otp: string, call: SourceCall): Promise<AadhaarOtpCheck>;
}

const sent = z.object({ reference_id: z.string().min(1).max(512) });
const verified = z.object({ record: z.unknown() });
const refusal = z.object({ error: z.looseObject({ code: z.string() }) });

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * A refusal that this step expects.
 * @throws SourceFailure or ServiceError for all other refusals
 */
function knownRefusal<Code extends string>({ status, body }: Answer, known: readonly Code[]): Code {
  const error = refusal.safeParse(body).data?.error;
  const code = error?.code;
  const found = known.find((each) => each === code);
  if (found !== undefined) return found;
  if (code === 'timeout' || status === 504) throw upstreamTimedOut();
  if (code === 'otp_throttled') throw throttledBySource(error);
  if (code === 'rate_limited' || status === 429) throw new SourceFailure('provider_quota', 'the provider accepts no more requests');
  if (status === 401 || status === 403) throw new SourceFailure('upstream_error', 'the provider refuses the key');
  if (code !== undefined || status >= 500) throw new SourceFailure('upstream_error', `the provider failed with ${status}`);
  throw badAnswer(`the provider responded with ${status} in an unexpected form`);
}

export function createAadhaarProviderClient({ client, headers }: AadhaarProviderClientOptions): AadhaarProviderClient {
  /** Sends number and OTP only in the body. */
  const post = async (path: string, json: Readonly<Record<string, string>>, call: SourceCall): Promise<Answer> => {
    const request = { mode: call.mode, method: 'POST', path, json, signal: call.signal, headers: headers[call.mode] } as const;
    const { status, bytes } = await exchangeOnce(client, request);
    return { status, body: parseJson(textOf(bytes)) };
  };
  return {
    requestOtp: async (aadhaar, call) => {
      const answer = await post('/otp', { aadhaar }, call);
      if (answer.status !== 200) return { kind: knownRefusal(answer, ['not_found']) };
      const parsed = sent.safeParse(answer.body);
      if (!parsed.success) throw badAnswer('the provider names no reference');
      return { kind: 'sent', reference: parsed.data.reference_id };
    },
    verify: async (reference, otp, call) => {
      const answer = await post('/verify', { reference_id: reference, otp }, call);
      if (answer.status !== 200) {
        const code = knownRefusal(answer, ['otp_invalid', 'otp_expired', 'reference_unknown']);
        return { kind: code === 'reference_unknown' ? 'session_unknown' : code };
      }
      return { kind: 'record', record: parseHolderRecord(verified.safeParse(answer.body).data?.record) };
    },
  };
}
