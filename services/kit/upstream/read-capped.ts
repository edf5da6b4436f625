import { type Readable } from 'node:stream';

/** More bytes than the cap. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/**
 * Reads a body up to the cap, and says whether there was more. The rest is not received.
 * @throws whatever the stream fails with
 */
export async function readStart(body: Readable, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let seen = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    seen += chunk.length;
    if (seen > maxBytes) break;
  }
  return { bytes: Buffer.concat(chunks, Math.min(seen, maxBytes)), isCut: seen > maxBytes };
}

/**
 * Reads a whole body that may not have declared its size.
 * @throws ResponseTooLarge; whatever the stream fails with
 */
export async function readCapped(body: Readable, maxBytes: number): Promise<Buffer> {
  const { bytes, isCut } = await readStart(body, maxBytes);
  if (isCut) throw new ResponseTooLarge(`the response is larger than ${maxBytes} bytes`);
  return bytes;
}
