import { inflateSync } from 'node:zlib';

/** The text of a PDF, by the tables that its fonts bring along: a reader that searches does the same. */
export function pdfText(pdf: Buffer): string {
  const raw = pdf.toString('latin1');
  const streams = [...raw.matchAll(/stream\n([\s\S]*?)\nendstream/g)].flatMap(([, body = '']) => {
    try {
      return [inflateSync(Buffer.from(body, 'latin1')).toString('latin1')];
    } catch {
      return [];
    }
  });
  const maps = streams
    .filter((each) => each.includes('beginbfrange'))
    .map((each) => {
      const range = /beginbfrange\s*<0000> <[0-9a-f]+> \[([\s\S]*?)\]/.exec(each)?.[1] ?? '';
      // A ligature stands for several letters, with spaces between them: <0066 0066>.
      return [...range.matchAll(/<([0-9a-f ]*)>/g)].map(([, hex = '']) =>
        String.fromCodePoint(...(hex.match(/[0-9a-f]{4}/g) ?? []).map((code) => Number.parseInt(code, 16))),
      );
    });
  const fonts = [...raw.matchAll(/\/(F\d+) /g)].map(([, name = '']) => name);
  const order = [...new Set(fonts)].sort();
  return streams
    .flatMap((each) => [...each.matchAll(/\/(F\d+) [\d.]+ Tf|\[((?:<[0-9a-f]+>|[\s\d.-])+)\] TJ/g)])
    .reduce<{ font: string; text: string }>(
      ({ font, text }, [, next, shown]) => {
        if (next !== undefined) return { font: next, text };
        const map = maps[order.indexOf(font)] ?? [];
        const glyphs = [...(shown ?? '').matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? []);
        return { font, text: `${text}${glyphs.map((glyph) => map[Number.parseInt(glyph, 16)] ?? '?').join('')}\n` };
      },
      { font: '', text: '' },
    ).text;
}
