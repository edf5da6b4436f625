import { isTimeout } from '../../../kit/errors';
import { type UpstreamClient, type UpstreamRequest, type UpstreamResponse } from '../../../kit/upstream/upstream-client';
import { isSettled, SourceFailure } from './source-failure';

/**
 * Sends one request, never twice, because most requests use up a captcha or send an OTP. Every HTTP status is a value.
 * @throws SourceFailure when the exchange certainly failed; the client's error after a time-out or when the caller left, because the
 * upstream may then have done its work
 */
export async function exchangeOnce(client: Pick<UpstreamClient, 'request'>, request: UpstreamRequest): Promise<UpstreamResponse> {
  try {
    return await client.request({ ...request, idempotent: false });
  } catch (error) {
    if (request.signal.aborted || isTimeout(error) || isSettled(error)) throw error;
    throw new SourceFailure('unreachable', 'the exchange broke before its end', error);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes a body as text, in either of its two encodings. */
export function textOf(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    // The tax portal declares ISO-8859-1.
    return bytes.toString('latin1');
  }
}

/** Parses JSON; undefined when it is not JSON. The parser's error is dropped, because it quotes the text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
