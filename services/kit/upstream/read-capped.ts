import { type Readable } from 'node:stream';

/** More bytes than the cap. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/**
 * A whole body, which need not have said its size before.
 * @throws ResponseTooLarge; whatever the stream fails with
 */
export async function readCapped(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let seen = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    seen += chunk.length;
    if (seen > maxBytes) throw new ResponseTooLarge(`the response is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, seen);
}
