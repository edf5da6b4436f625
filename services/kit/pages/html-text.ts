import { TextDecoder } from 'node:util';

/** HTML must declare its encoding within so many bytes. */
const DECLARATION_BYTES = 1_024;

function decoderOf(label: string | undefined): TextDecoder {
  try {
    return new TextDecoder(label ?? 'utf-8');
  } catch {
    return new TextDecoder('utf-8');
  }
}

/** Decodes a page. The header's charset wins over the document's. Unknown charsets and broken bytes never fail. */
export function htmlText(bytes: Uint8Array, contentType: string): string {
  const inHeader = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
  const inDocument = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)/i.exec(
    Buffer.from(bytes.subarray(0, DECLARATION_BYTES)).toString('latin1'),
  )?.[1];
  return decoderOf(inHeader ?? inDocument).decode(bytes);
}
