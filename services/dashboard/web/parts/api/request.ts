import { type Given, type Method, type Params } from '../../../contract/endpoint';
import { type AnswerOf, type Body, type Contract, type Query } from '../../../contract/endpoints';
import { noteShownOrganisation, shownOrganisation } from '../browser/shown-organisation';
import { viewedCustomer } from '../browser/viewed-customer';
import { ApiProblem, problemFrom, unreachable } from './api-problem';
import { noteConnection } from './connection';

/** Longer than any response should take. A page must not wait for ever. */
const TIMEOUT_MS = 20_000;

/** `?a=1&b=2` of the values that are given and not empty. */
export function queryText(query: Readonly<Record<string, string | number | undefined>>): string {
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
  readonly timeoutMs?: number | undefined;
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

/** @throws ApiProblem for every response that is not a success, and when none comes */
async function ask(wanted: Ask): Promise<unknown> {
  try {
    const response = await exchange(wanted);
    const data = await readJson(response);
    if (!response.ok) throw problemFrom(response.status, data);
    noteConnection(true);
    return data;
  } catch (error) {
    if (error instanceof ApiProblem) noteConnection(!error.isTemporary);
    // This tab shows an organisation that is no longer the chosen one.
    if (error instanceof ApiProblem && error.code === 'organisation_changed') window.location.assign('/');
    throw error;
  }
}

/** Members of a query are sent as text. A page may pass on the text of its address, and the server checks it. */
type Texts<Found> = { readonly [Member in keyof Found]: string | number | (undefined extends Found[Member] ? undefined : never) };

/** A part of a request: left out if the endpoint takes none, and optional if all of it is optional. */
type Part<Member extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { readonly [Key in Member]?: Value }
    : object extends Value
      ? { readonly [Key in Member]?: Value }
      : { readonly [Key in Member]: Value };

export type Name = keyof Contract;
type QueryOf<Of extends Name> = [Query<Of>] extends [undefined] ? undefined : Texts<Query<Of>>;

interface Options {
  /** For a response that may take longer than others. */
  readonly timeoutMs?: number;
}

/** The parts that an endpoint takes. */
type Input<Of extends Name> = Part<'params', keyof Params<Of> extends never ? undefined : Params<Of>> &
  Part<'query', QueryOf<Of>> &
  Part<'body', Given<Body<Of>>> &
  Options;

/** Required only if the endpoint needs something. */
type Inputs<Of extends Name> = object extends Input<Of> ? [input?: Input<Of>] : [input: Input<Of>];

/** The parts of any endpoint. */
interface AnyInput extends Options {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

const NOTHING_HERE = 'There is nothing at this address. The link may be cut off or out of date.';

/** True when the server's complaint is only about the address, which the reader has not typed into a field. */
function isAboutPath(error: unknown, { params = {} }: AnyInput): boolean {
  if (!(error instanceof ApiProblem) || error.status !== 400) return false;
  return error.fields.length > 0 && error.fields.every(({ field }) => field in params);
}

const READ_ONLY = 'You are viewing a customer’s pages: nothing can be changed here.';

/** The path of an endpoint. In a tab in which an operator looks at a customer's pages, it lies below that customer. */
function placeOf(name: Name, { params = {}, query = {} }: AnyInput): Pick<Ask, 'method' | 'path'> {
  const [method, path] = name.split(' ') as [Method, string];
  const filled = path.replace(/:(\w+)/g, (_, each: string) => encodeURIComponent(params[each] ?? ''));
  const customerId = viewedCustomer();
  const isOfEverybody = /^\/(auth|operator|installation|outbox)\b/.test(path);
  const isViewed = customerId !== undefined && !isOfEverybody;
  // The API has no such route either. This explains it in words.
  if (isViewed && method !== 'GET') throw new ApiProblem(409, 'read_only', READ_ONLY);
  return { method, path: `/api${isViewed ? `/operator/customers/${customerId}/view` : ''}${filled}${queryText(query)}` };
}

/**
 * Calls one endpoint of the contract, by its name. Only types come from the contract, so that no schema reaches the browser. The response
 * is not checked: the API comes from the same build, and its tests check every response against the contract.
 * @throws ApiProblem
 */
export async function call<Of extends Name>(name: Of, ...[given]: Inputs<Of>): Promise<AnswerOf<Of>> {
  // Another person may sign in next.
  if (/ \/auth\/(sign-|verify|two-factor)/.test(name)) noteShownOrganisation(undefined);
  const input: AnyInput = given ?? {};
  try {
    return (await ask({ ...placeOf(name, input), ...input })) as AnswerOf<Of>;
  } catch (error) {
    throw isAboutPath(error, input) ? new ApiProblem(404, 'not_found', NOTHING_HERE) : error;
  }
}

/** Endpoints that return a file. */
type FileName = { [Each in Name]: Contract[Each] extends { file: string } ? Each : never }[Name];

/** The address of a file, for a link. */
export function addressOf<Of extends FileName>(name: Of, ...[given]: Inputs<Of>): string {
  return placeOf(name, given ?? {}).path;
}

/**
 * Downloads a file from an endpoint that takes a body.
 * @throws ApiProblem
 */
export async function callForFile<Of extends FileName>(name: Of, ...[given]: Inputs<Of>): Promise<Blob> {
  const input: AnyInput = given ?? {};
  const response = await exchange({ ...placeOf(name, input), ...input });
  if (!response.ok) throw problemFrom(response.status, await readJson(response));
  try {
    return await response.blob();
  } catch {
    throw unreachable();
  }
}
