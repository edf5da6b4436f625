import { ApiProblem, problemFrom, unreachable } from './api-problem';
import { noteShownOrganisation, shownOrganisation } from '../browser/shown-organisation';
import { viewedCustomer } from '../browser/viewed-customer';
import { noteConnection } from './connection';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Readonly<Record<string, string | number | undefined>>;

/** Longer than any answer should take; a page must not wait for ever. */
const TIMEOUT_MS = 20_000;

/** `?a=1&b=2` of the values that are given and not empty. */
export function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

async function readJson(response: Response): Promise<unknown> {
  if (!(response.headers.get('content-type') ?? '').includes('json')) return undefined;
  return response.json().catch(() => undefined);
}

interface Ask {
  readonly method: Method;
  /** With everything that stands before it. */
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

async function exchange({ method, path, body, timeoutMs = TIMEOUT_MS }: Ask): Promise<Response> {
  const shown = shownOrganisation();
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(shown !== undefined && { 'x-organisation': shown }),
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
      },
      ...(method !== 'GET' && { body: JSON.stringify(body ?? {}) }),
    });
  } catch {
    throw unreachable();
  }
}

/**
 * One request to the API.
 * The answer is taken to have the contract's shape: the API comes from the same build, and its tests check every answer against it.
 * @throws ApiProblem for every answer that is not a success, and when none comes
 */
async function ask<Answer>(call: Ask): Promise<Answer> {
  try {
    const response = await exchange(call);
    const data = await readJson(response);
    if (!response.ok) throw problemFrom(response.status, data);
    noteConnection(true);
    return data as Answer;
  } catch (error) {
    if (error instanceof ApiProblem) noteConnection(!error.isTemporary);
    // What this tab shows belongs to an organisation that is not the chosen one any more.
    if (error instanceof ApiProblem && error.code === 'organisation_changed') window.location.assign('/');
    throw error;
  }
}

/** Where a path of the customers' API is: in a tab in which an operator looks at a customer's pages, below that customer. */
export function apiPath(path: string): string {
  const customerId = viewedCustomer();
  const isOfEverybody = /^\/(auth|operator|installation|outbox)\b/.test(path);
  return customerId === undefined || isOfEverybody ? `/api${path}` : `/api/operator/customers/${customerId}/view${path}`;
}

const READ_ONLY = 'You look at a customer’s pages: nothing can be changed here.';

async function request<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  // Whoever signs in next may be somebody else.
  if (/^\/auth\/(sign-|verify|two-factor)/.test(path)) noteShownOrganisation(undefined);
  const place = apiPath(path);
  // The API has no such route either; this says so in words.
  if (method !== 'GET' && place.includes('/view/')) throw new ApiProblem(409, 'read_only', READ_ONLY);
  return ask({ method, path: place, body });
}

/** A file that takes a body to be had. @throws ApiProblem */
export async function postForFile(path: string, body: object, timeoutMs: number): Promise<Blob> {
  if (viewedCustomer() !== undefined) throw new ApiProblem(409, 'read_only', READ_ONLY);
  const response = await exchange({ method: 'POST', path: `/api${path}`, body, timeoutMs });
  if (!response.ok) throw problemFrom(response.status, await readJson(response));
  try {
    return await response.blob();
  } catch {
    throw unreachable();
  }
}

/** @throws ApiProblem */
export function get<Answer>(path: string, query: Query = {}): Promise<Answer> {
  return request('GET', `${path}${queryText(query)}`);
}

/** @throws ApiProblem */
export function post<Answer = unknown>(path: string, body: object = {}): Promise<Answer> {
  return request('POST', path, body);
}

/** @throws ApiProblem */
export function put<Answer = unknown>(path: string, body: object): Promise<Answer> {
  return request('PUT', path, body);
}

/** @throws ApiProblem */
export function patch<Answer = unknown>(path: string, body: object): Promise<Answer> {
  return request('PATCH', path, body);
}

/** @throws ApiProblem */
export function remove<Answer = unknown>(path: string, body: object = {}): Promise<Answer> {
  return request('DELETE', path, body);
}
