import { type CodeLanguage, tokensOf } from '../../reference/code-tokens';

/** Colours code without an element for each word. A browser that cannot shows it in one colour. */
export function colourCode(blocks: Iterable<HTMLElement>): void {
  if (!('highlights' in CSS)) return;
  const found = new Map<string, Highlight>();
  for (const block of blocks) {
    const text = block.querySelector('code')?.firstChild;
    if (!(text instanceof Text)) continue;
    for (const { kind, from, to } of tokensOf(text.data, (block.dataset['language'] ?? 'script') as CodeLanguage)) {
      const range = document.createRange();
      range.setStart(text, from);
      range.setEnd(text, to);
      found.set(kind, (found.get(kind) ?? new Highlight()).add(range));
    }
  }
  for (const [kind, highlight] of found) CSS.highlights.set(`code-${kind}`, highlight);
}
