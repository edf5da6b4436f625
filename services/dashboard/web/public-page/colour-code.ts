import { type CodeLanguage, tokensOf } from '../../reference/code-tokens';

/** Colours code without an element for each word. A browser that cannot shows it in one colour. */
export function colourCode(blocks: Iterable<HTMLElement>): void {
  if (!('highlights' in CSS)) return;
  const ranges = new Map<string, Range[]>();
  for (const block of blocks) {
    const text = block.querySelector('code')?.firstChild;
    if (!(text instanceof Text)) continue;
    for (const { kind, from, to } of tokensOf(text.data, (block.dataset['language'] ?? 'script') as CodeLanguage)) {
      const range = document.createRange();
      range.setStart(text, from);
      range.setEnd(text, to);
      ranges.set(kind, [...(ranges.get(kind) ?? []), range]);
    }
  }
  for (const [kind, all] of ranges) CSS.highlights.set(`code-${kind}`, new Highlight(...all));
}
