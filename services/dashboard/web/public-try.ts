import { type TryAnswer } from '../contract/try';

/** What a form of a public page says of its call; see api/public/try-form.tsx. */
interface TryCall {
  readonly product: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly file?: { readonly field: string; readonly filename: string; readonly contentType: string; readonly base64: string };
}

/** Longer bodies make a page slow to scroll, and say no more. */
const MOST_SHOWN = 20_000;
/** What a later step of a session is asked for. */
const SESSION = 'sessionId';
/** Pictures lie in JSON answers as base64, under names that end so, or as data URIs. */
const PICTURE_NAME = /(^|_)(image|image_base64|captcha_base64|captcha)$/;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The multipart body that a browser would send, with its boundary. */
async function formOf({ field, filename, contentType, base64 }: NonNullable<TryCall['file']>): Promise<object> {
  const form = new FormData();
  form.set(field, new File([bytesOf(base64)], filename, { type: contentType }));
  const whole = new Response(form);
  const type = whole.headers.get('content-type') ?? 'multipart/form-data';
  return { contentType: type, bodyBase64: await base64Of(await whole.blob()) };
}

async function bodyOf(form: HTMLFormElement, { method, file }: TryCall): Promise<object> {
  if (file) return formOf(file);
  const fields = [...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : ''] as const);
  if (method === 'POST') return { contentType: 'application/json', body: fields.find(([name]) => name === 'body')?.[1] ?? '{}' };
  return { query: Object.fromEntries(fields.filter(([, value]) => value !== '')) };
}

function element(name: string, text: string, className = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (className !== '') made.className = className;
  return made;
}

function pictureOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string' && PICTURE_NAME.test(name) && member.length > 100) {
      return member.startsWith('data:image/') ? member : `data:image/png;base64,${member}`;
    }
    const inner = pictureOf(member);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The next step of a session begins with what this one answered. */
function carrySession(value: unknown): void {
  const id: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, SESSION) : undefined;
  if (typeof id !== 'string') return;
  for (const input of document.querySelectorAll<HTMLInputElement>(`.try input[name="${SESSION}"]`)) input.value = id;
  for (const area of document.querySelectorAll<HTMLTextAreaElement>('.try textarea')) {
    const body = parse(area.value);
    if (typeof body === 'object' && body !== null && SESSION in body) area.value = JSON.stringify({ ...body, [SESSION]: id }, undefined, 2);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bodyElements(answer: TryAnswer & { outcome: 'answered' }): HTMLElement[] {
  const type = answer.headers['content-type'] ?? '';
  if (answer.encoding === 'base64') {
    if (!type.startsWith('image/') || answer.isCut) return [element('p', `${type === '' ? 'Bytes' : type}, not shown here.`)];
    return [picture(`data:${type};base64,${answer.body}`)];
  }
  const value = parse(answer.body);
  carrySession(value);
  const text = value === undefined ? answer.body : JSON.stringify(value, undefined, 2);
  const shown = element('pre', text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}\n…` : text);
  shown.tabIndex = 0;
  shown.setAttribute('aria-label', 'Response body');
  const image = pictureOf(value);
  return image === undefined ? [shown] : [picture(image), shown];
}

function picture(source: string): HTMLImageElement {
  const image = new Image();
  image.src = source;
  image.alt = 'Image in the response';
  return image;
}

function show(outcome: Element, answer: TryAnswer): void {
  if (answer.outcome === 'failed') {
    const why = answer.reason === 'timeout' ? 'No complete response in time.' : 'The gateway could not be reached. Try again in a moment.';
    outcome.replaceChildren(element('p', why, 'problem'));
    return;
  }
  const status = element(
    'p',
    `Status ${answer.status} from the sandbox, after ${answer.durationMs} ms`,
    answer.status < 400 ? 'fine' : 'problem',
  );
  outcome.replaceChildren(status, ...bodyElements(answer));
}

function detailOf(problem: unknown): string {
  const detail: unknown = typeof problem === 'object' && problem !== null ? Reflect.get(problem, 'detail') : undefined;
  return typeof detail === 'string' ? detail : 'The call could not be made. Try again in a moment.';
}

async function run(form: HTMLFormElement, outcome: Element): Promise<void> {
  const call = JSON.parse(form.dataset['call'] ?? '{}') as TryCall;
  const { product, method, path } = call;
  const response = await fetch('/api/public/try', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ product, method, path, ...(await bodyOf(form, call)) }),
  });
  const answer: unknown = await response.json();
  if (response.ok) show(outcome, answer as TryAnswer);
  else outcome.replaceChildren(element('p', detailOf(answer), 'problem'));
}

for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
  const outcome = form.querySelector('.outcome');
  const button = form.querySelector('button');
  if (!outcome || !button) continue;
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    outcome.setAttribute('aria-busy', 'true');
    run(form, outcome)
      .catch(() => outcome.replaceChildren(element('p', 'The call could not be made. Try again in a moment.', 'problem')))
      .finally(() => {
        button.disabled = false;
        outcome.removeAttribute('aria-busy');
      });
  });
}
