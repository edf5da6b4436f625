import { TextDecoder } from 'node:util';

/** Bytes in which HTML declares its own encoding. */
const DECLARATION_BYTES = 1_024;

function decoderOf(label: string | undefined): TextDecoder {
  try {
    return new TextDecoder(label ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}

/** Text of a page: the header's charset wins over the document's; unknown ones and broken bytes never fail. */
export function htmlText(bytes: Uint8Array, contentType: string): string {
  const inHeader = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
  const inDocument = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)/i.exec(
    Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1'),
  )?.[1];
  return decoderOf(inHeader ?? inDocument).decode(bytes);
}
