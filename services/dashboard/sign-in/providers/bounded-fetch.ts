import { type CustomFetch } from 'openid-client';
import { isSafeUrl } from './provider-settings';

/** Milliseconds. Somebody waits for the page. */
const TIMEOUT_MS = 5_000;
/** Many times the size of a provider's description or keys. */
const MAX_BYTES = 1_048_576;

/** Statuses of responses without a body, with which a `Response` cannot be made. */
const WITHOUT_BODY = new Set([204, 205, 304]);

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: ReadableStream<Uint8Array> | null = response.body;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    const bytes = part.value;
    length += bytes.length;
    if (length > MAX_BYTES) {
      await reader?.cancel();
      throw new Error('the answer is too large');
    }
    chunks.push(bytes);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** `fetch` of a provider: within 5 s and 1 MiB, over https, without redirects. */
export const boundedFetch: CustomFetch = async (url, { body, method, headers: sent }) => {
  if (!isSafeUrl(url)) throw new Error('the provider names an address without https');
  const response = await fetch(url, {
    method,
    headers: sent,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body !== undefined && { body }),
  });
  const { status, headers } = response;
  const bytes = await readBounded(response);
  return new Response(WITHOUT_BODY.has(status) ? null : bytes, { status, headers });
};
