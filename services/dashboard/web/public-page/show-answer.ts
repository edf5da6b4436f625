import { SESSION_FIELD } from '../../reference/try-call';
import { copyText } from '../parts/browser/copy-text';
import { type Answered, FAILURES, headerLines, parseJson, readBody } from '../parts/format/answer-body';
import { type MadeCall } from './make-call';

/** An element with a text in it. */
export function element<Name extends keyof HTMLElementTagNameMap>(
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
export function addCopyButton(block: HTMLElement, what: string): void {
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
export function showAnswer(outcome: Element, { answer, isOwn, isLive }: MadeCall): void {
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
