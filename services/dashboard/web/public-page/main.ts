// The script of the pages that the server writes. They can be read without it; it adds what needs a script.
import './public.css';
import { type CodeLanguage, tokensOf } from '../../reference/code-tokens';
import { SESSION_FIELD } from '../../reference/try-call';
import { copyText } from '../parts/browser/copy-text';
import { type Answered, FAILURES, headerLines, parseJson, readBody } from '../parts/format/answer-body';
import { ConsentWanted, type MadeCall, makeCall, NotMade } from './make-call';

/** An element with a text in it. */
function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

/**
 * Adds a button to the corner of a block that copies its text.
 * @param what for example `code`
 */
function addCopyButton(block: HTMLElement, what: string): void {
  const text = block.textContent;
  const button = element('button', '', { type: 'button', class: 'copy', 'aria-live': 'polite' });
  const say = (words: string, name = words): void => {
    button.textContent = words;
    button.setAttribute('aria-label', name);
  };
  say('Copy', `Copy ${what}`);
  button.addEventListener('click', () => {
    void copyText(text).then((isCopied) => {
      say(isCopied ? 'Copied' : 'Copy by hand');
      setTimeout(() => say('Copy', `Copy ${what}`), 2_500);
    });
  });
  block.prepend(button);
}

/** The next step of a workflow begins with the session from this response. */
function carrySession(value: unknown): void {
  const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, SESSION_FIELD) : undefined;
  if (typeof id !== 'string') return;
  for (const note of document.querySelectorAll('.later-step')) note.remove();
  for (const input of document.querySelectorAll<HTMLInputElement>(`.try input[name="${SESSION_FIELD}"]`)) input.value = id;
  for (const area of document.querySelectorAll<HTMLTextAreaElement>('.try textarea')) {
    const body = parseJson(area.value);
    if (typeof body !== 'object' || body === null || !(SESSION_FIELD in body)) continue;
    area.value = JSON.stringify({ ...body, [SESSION_FIELD]: id }, undefined, 2);
  }
}

function bodyElement(text: string): HTMLElement {
  const block = element('pre', text, { tabindex: '0', 'aria-label': 'Response body' });
  addCopyButton(block, 'response');
  return block;
}

function bodyElements(answer: Answered): HTMLElement[] {
  const { note, picture, text, download } = readBody(answer);
  carrySession(parseJson(answer.body));
  return [
    ...(note === '' ? [] : [element('p', note)]),
    ...(picture === undefined ? [] : [element('img', '', { src: picture, alt: 'Image in the response' })]),
    ...(text === undefined ? [] : [bodyElement(text)]),
    ...(download === undefined ? [] : [element('a', 'Download it', { href: download, download: 'answer' })]),
  ];
}

/** Shows the outcome of a call in place of the previous one. */
function showAnswer(outcome: Element, { answer, isOwn, isLive }: MadeCall): void {
  if (answer.outcome === 'failed') {
    outcome.replaceChildren(element('p', FAILURES[answer.reason], { class: 'problem' }));
    return;
  }
  const { status, durationMs, requestId } = answer;
  const line = `Status ${status}${isLive ? '' : ' from the sandbox,'} after ${Math.round(durationMs)} ms`;
  const headers = element('details', '');
  headers.append(
    element('summary', 'Response headers'),
    element('pre', headerLines(answer), { tabindex: '0', 'aria-label': 'Response headers' }),
  );
  outcome.replaceChildren(
    element('p', line, { class: status < 400 ? 'fine' : 'problem' }),
    ...(isOwn && requestId !== null ? [element('a', 'Explain this request', { href: `/explain?request=${requestId}` })] : []),
    ...bodyElements(answer),
    headers,
  );
}

/** The text to agree to, and the button that agrees and makes the call. */
function askConsent(outcome: Element, text: string, agree: () => void): void {
  const button = element('button', 'I agree for my organisation', { type: 'button' });
  button.addEventListener('click', agree);
  outcome.replaceChildren(element('p', text), button);
}

/** Most calls have a response by then. */
const NOTEWORTHY_MS = 3_000;

/**
 * Shows every second how long there has been no response.
 * @returns a function that stops it
 */
function showWaiting(outcome: Element): () => void {
  const startMs = performance.now();
  const timer = setInterval(() => {
    const ms = performance.now() - startMs;
    if (ms < NOTEWORTHY_MS) return;
    outcome.replaceChildren(element('p', `No answer for ${Math.round(ms / 1_000)} s. The call ends after 60 s.`, { 'aria-live': 'off' }));
  }, 1_000);
  return () => clearInterval(timer);
}

function startForm(form: HTMLFormElement): void {
  const outcome = form.querySelector('.outcome');
  const button = form.querySelector('button');
  form.hidden = false;
  const send = (consent: readonly string[]): void => {
    if (!outcome || !button || button.disabled) return;
    button.disabled = true;
    outcome.replaceChildren();
    outcome.setAttribute('aria-busy', 'true');
    const answered = showWaiting(outcome);
    makeCall(form, consent)
      .finally(answered)
      .then((made) => showAnswer(outcome, made))
      .catch((error: unknown) => {
        if (error instanceof ConsentWanted) return askConsent(outcome, error.message, () => send([error.text]));
        const words = error instanceof NotMade ? error.message : 'The call could not be made. Try again in a moment.';
        outcome.replaceChildren(element('p', words, { class: 'problem' }));
      })
      .finally(() => {
        button.disabled = false;
        outcome.removeAttribute('aria-busy');
      });
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send([]);
  });
}

/** Reduces the list of routes to those that contain every typed word, in their own line or in their product's. */
function startSearch(search: HTMLElement): void {
  const input = search.querySelector('input');
  const found = search.querySelector('[role=status]');
  if (!input || !found) return;
  search.hidden = false;
  const look = (): void => {
    const words = input.value.toLowerCase().split(/\s+/);
    const isFound = (text: string | null): boolean => words.every((word) => (text ?? '').toLowerCase().includes(word));
    let count = 0;
    for (const entry of document.querySelectorAll<HTMLElement>('.entry')) {
      const routes = [...entry.querySelectorAll<HTMLElement>('li')];
      const own = [...entry.children].map((child) => (child.matches('ul') ? '' : child.textContent)).join(' ');
      for (const route of routes) route.hidden = !isFound(`${own} ${route.textContent}`);
      const left = routes.filter(({ hidden }) => !hidden).length;
      entry.hidden = left === 0 && !isFound(own);
      count += left;
    }
    found.textContent = input.value === '' ? '' : `${count} ${count === 1 ? 'route' : 'routes'}`;
  };
  input.addEventListener('input', look);
  look();
}

/** The slider shows its value, and the costs once it is released. */
function startSlider(slider: HTMLInputElement): void {
  const steps = slider.dataset['steps']?.split(' ') ?? [];
  const output = slider.form?.querySelector('output');
  slider.addEventListener('input', () => {
    const shown = steps[slider.valueAsNumber] ?? '';
    slider.setAttribute('aria-valuetext', `${shown} requests`);
    if (output) output.value = shown;
  });
  slider.addEventListener('change', () => slider.form?.requestSubmit());
}

/** Colours code without an element for each word. A browser that cannot shows it in one colour. */
function colourCode(blocks: Iterable<HTMLElement>): void {
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

const KEPT = 'code-language';

/** Opens all samples that have a language in that language. */
function show(tabs: Iterable<HTMLElement>, language: string | null): void {
  for (const tab of tabs)
    if (tab.textContent === language && tab.parentElement instanceof HTMLDetailsElement) tab.parentElement.open = true;
}

/** All samples follow the language that a reader chooses for one of them, on this page and the next. */
function startLanguages(tabs: Iterable<HTMLElement>): void {
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

/** Lets the name of a member break after its punctuation. Markup for that would be a twentieth of the largest page. */
function breakBehindSigns(name: Text): void {
  const parts = name.data.match(/[^._\]]+[._\]]*/g) ?? [];
  name.replaceWith(...parts.flatMap((part) => [part, document.createElement('wbr')]).slice(0, -1));
}

for (const { firstChild: name } of document.querySelectorAll('.fields th')) if (name instanceof Text) breakBehindSigns(name);
for (const slider of document.querySelectorAll<HTMLInputElement>('input[data-steps]')) startSlider(slider);
for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) startForm(form);
for (const search of document.querySelectorAll<HTMLElement>('search')) startSearch(search);
colourCode(document.querySelectorAll<HTMLElement>('[data-language], .languages pre'));
for (const shown of document.querySelectorAll<HTMLElement>('[data-copy], .languages pre'))
  addCopyButton(shown, shown.dataset['copy'] ?? 'code');
startLanguages(document.querySelectorAll<HTMLElement>('.languages summary'));
// Links name an operation by its anchor on its product's page. In a long description each operation has its own page.
const { hash } = location;
const pages = document.querySelector<HTMLElement>('[data-pages]')?.dataset['pages'];
if (pages !== undefined && /^#[A-Za-z]/.test(hash) && hash !== '#content') location.replace(`${pages}/${hash.slice(1)}`);

// The scheme that was chosen in the dashboard; without a choice, the system's own.
const scheme = localStorage.getItem('mantine-color-scheme-value');
if (scheme === 'light' || scheme === 'dark') document.documentElement.dataset['scheme'] = scheme;

for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-zone="reader"]')) {
  time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}
