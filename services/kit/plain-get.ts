import { get as getByHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { get as getByHttps } from 'node:https';
import { readCapped } from './upstream/read-capped';

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Body as it was sent: not unpacked, and no redirect is followed. */
  readonly body: Buffer;
}

/**
 * Sends a GET to a server that the platform engineer configured. The first `fetch` of a process takes a third of a second of CPU, because
 * its parser is compiled. That is too much for a process that is starting, or that sends one request.
 * @throws the signal's reason; ResponseTooLarge; what the connection fails with
 */
export async function plainGet(
  url: string | URL,
  { signal, maxBytes, accept }: { readonly signal: AbortSignal; readonly maxBytes: number; readonly accept?: string },
): Promise<PlainAnswer> {
  const { protocol } = new URL(url);
  const get = protocol === 'https:' ? getByHttps : getByHttp;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      // The connection is not pooled and ends with the response.
      get(url, { signal, agent: false, headers: { ...(accept !== undefined && { accept }) } }, resolve).once('error', reject);
    });
    return { status: response.statusCode ?? 0, headers: response.headers, body: await readCapped(response, maxBytes) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    // There is one error for each address of the name. Together they have no message.
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}
