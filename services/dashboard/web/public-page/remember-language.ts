const KEPT = 'code-language';

/** Opens all samples that have a language in that language. */
function show(tabs: Iterable<HTMLElement>, language: string | null): void {
  for (const tab of tabs)
    if (tab.textContent === language && tab.parentElement instanceof HTMLDetailsElement) tab.parentElement.open = true;
}

/** All samples follow the language that a reader chooses for one of them, on this page and the next. */
export function startLanguages(tabs: Iterable<HTMLElement>): void {
  const all = [...tabs];
  show(all, localStorage.getItem(KEPT));
  for (const tab of all) {
    tab.addEventListener('click', (event) => {
      // A second click would close the only one.
      event.preventDefault();
      const top = tab.getBoundingClientRect().top;
      localStorage.setItem(KEPT, tab.textContent);
      show(all, tab.textContent);
      // Samples above may have a different height now.
      scrollBy(0, tab.getBoundingClientRect().top - top);
    });
  }
}
