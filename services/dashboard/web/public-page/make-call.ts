import { type TryAnswer } from '../../contract/try';
import { BODY_FIELD, FILE_FIELD, FORM_FIELD, type TryCall } from '../../reference/try-call';
import { writeTarget } from '../../reference/write-target';
import { parseJson } from '../parts/format/answer-body';

/** The dashboard gives up after 60 s and says so. */
const TIMEOUT_MS = 65_000;
/** Statuses for a reader who may not call with their own key: the session ended, it is an operator's, or the role may not use keys. */
const MAY_NOT = new Set([401, 403]);

/** A call that was not made, in words for the reader. */
export class NotMade extends Error {}

/** The product asks for a consent first. */
export class ConsentWanted extends Error {
  constructor(
    message: string,
    /** The text to agree to. */
    readonly text: string,
  ) {
    super(message);
  }
}

/** The outcome of a call, and whether it was made for a customer, who can have it explained. */
export interface MadeCall {
  readonly answer: TryAnswer;
  readonly isOwn: boolean;
  /** The API itself responded, not a sandbox. */
  readonly isLive: boolean;
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  // In slices: all bytes at once would be more arguments than a call may have.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  return btoa(text);
}

/**
 * The chosen file, else the example's.
 * @throws NotMade
 */
function fileOf(chosen: FormDataEntryValue | null, { example, mostBytes }: NonNullable<TryCall['file']>): File {
  const isChosen = chosen instanceof File && chosen.size > 0;
  if (!isChosen && !example) throw new NotMade('Choose a file.');
  if (isChosen && chosen.size > mostBytes)
    throw new NotMade(`This page sends files up to ${mostBytes / 1_000_000} MB. Send larger ones with curl.`);
  if (isChosen || !example) return chosen as File;
  const bytes = Uint8Array.from(atob(example.base64), (character) => character.charCodeAt(0));
  return new File([bytes], example.filename, { type: example.contentType });
}

/** The filled-in fields whose names begin with a prefix, by the rest of their names. */
function givenIn(fields: FormData, start: string): [string, string][] {
  return [...fields].flatMap(([name, value]): [string, string][] =>
    name.startsWith(start) && typeof value === 'string' && value !== '' ? [[name.slice(start.length), value]] : [],
  );
}

/** The body as a browser would send it. @throws NotMade */
async function bodyOf(fields: FormData, { file, form: formType }: TryCall): Promise<object> {
  if (formType === 'application/x-www-form-urlencoded') {
    const body = new URLSearchParams(givenIn(fields, FORM_FIELD)).toString();
    return { contentType: formType, body };
  }
  if (formType === 'multipart/form-data') {
    const form = new FormData();
    for (const [name, value] of givenIn(fields, FORM_FIELD)) form.append(name, value);
    if (file) form.set(file.field, fileOf(fields.get(FILE_FIELD), file));
    const whole = new Response(form);
    return { contentType: whole.headers.get('content-type') ?? 'multipart/form-data', bodyBase64: await base64Of(await whole.blob()) };
  }
  const body = fields.get(BODY_FIELD);
  if (typeof body !== 'string' || body.trim() === '') return {};
  if (parseJson(body) === undefined) throw new NotMade('This is not valid JSON.');
  return { contentType: 'application/json', body };
}

/**
 * @returns the key that replaces the dashboard's; empty for none
 * @throws NotMade
 */
function ownKey(): string {
  const key = document.querySelector<HTMLInputElement>('#own-key')?.value.trim() ?? '';
  if (key.startsWith('tg_live_')) throw new NotMade('This is a live key. Live keys are never entered into a page.');
  if (key !== '' && !/^tg_test_[0-9A-Za-z]+$/.test(key)) throw new NotMade('A test key begins with tg_test_.');
  return key;
}

function memberOf(problem: unknown, name: 'code' | 'detail' | 'text'): unknown {
  return typeof problem === 'object' && problem !== null ? Reflect.get(problem, name) : undefined;
}

function detailOf(problem: unknown): string {
  const detail = memberOf(problem, 'detail');
  return typeof detail === 'string' ? detail : 'The call could not be made. Try again in a moment.';
}

const JSON_HEADERS = { 'Content-Type': 'application/json' };
const ASKS_CONSENT: ReadonlySet<unknown> = new Set(['consent_required', 'consent_changed']);

/**
 * Makes the call of a form through the dashboard.
 * @param consent the texts that the reader agrees to
 * @throws NotMade saying what to mend, or what the dashboard responded
 * @throws ConsentWanted
 */
export async function makeCall(form: HTMLFormElement, consent: readonly string[]): Promise<MadeCall> {
  const call = JSON.parse(form.dataset['call'] ?? '{}') as TryCall;
  const fields = new FormData(form);
  const key = ownKey();
  const { product, method, through, isLive = false } = call;
  const body = JSON.stringify({
    ...(key === '' ? { product } : { key }),
    method,
    ...writeTarget(call, fields),
    ...(await bodyOf(fields, call)),
    ...(consent.length > 0 && { consent }),
  });
  let refusal: unknown;
  // A call with the customer's own key is made only for the customer.
  for (const place of key === '' ? through : through.slice(0, 1)) {
    const response = await fetch(place, { method: 'POST', headers: JSON_HEADERS, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const answer: unknown = await response.json();
    if (response.ok) return { answer: answer as TryAnswer, isOwn: place === '/api/try', isLive };
    refusal ??= answer;
    if (!MAY_NOT.has(response.status)) break;
  }
  const text = memberOf(refusal, 'text');
  if (ASKS_CONSENT.has(memberOf(refusal, 'code')) && typeof text === 'string') throw new ConsentWanted(detailOf(refusal), text);
  throw new NotMade(detailOf(refusal));
}
