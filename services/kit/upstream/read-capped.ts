import { type Readable } from 'node:stream';

/** More bytes than the cap. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';
}

/** As much of a body as the cap allows, and whether there was more; what follows is not received. @throws whatever the stream fails with */
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
 * A whole body, which need not have said its size before.
 * @throws ResponseTooLarge; whatever the stream fails with
 */
export async function readCapped(body: Readable, maxBytes: number): Promise<Buffer> {
  const { bytes, isCut } = await readStart(body, maxBytes);
  if (isCut) throw new ResponseTooLarge(`the response is larger than ${maxBytes} bytes`);
  return bytes;
}
