import { type Given, type Method, type Params } from '../../../contract/endpoint';
import { type Answer, type Body, type Contract, type Query } from '../../../contract/endpoints';
import { noteShownOrganisation, shownOrganisation } from '../browser/shown-organisation';
import { viewedCustomer } from '../browser/viewed-customer';
import { ApiProblem, problemFrom, unreachable } from './api-problem';
import { noteConnection } from './connection';

/** Longer than any answer should take; a page must not wait for ever. */
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

/** @throws ApiProblem for every answer that is not a success, and when none comes */
async function ask(wanted: Ask): Promise<unknown> {
  try {
    const response = await exchange(wanted);
    const data = await readJson(response);
    if (!response.ok) throw problemFrom(response.status, data);
    noteConnection(true);
    return data;
  } catch (error) {
    if (error instanceof ApiProblem) noteConnection(!error.isTemporary);
    // What this tab shows belongs to an organisation that is not the chosen one any more.
    if (error instanceof ApiProblem && error.code === 'organisation_changed') window.location.assign('/');
    throw error;
  }
}

/** Members of a query travel as text: a page may pass on what its address holds, and the server judges it. */
type Texts<Found> = { readonly [Member in keyof Found]: string | number | (undefined extends Found[Member] ? undefined : never) };

/** A part of a request: left out where the endpoint takes none, and optional where it needs nothing of it. */
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
  /** For an answer that may take longer than others. */
  readonly timeoutMs?: number;
}

/** What an endpoint must be given. */
type Input<Of extends Name> = Part<'params', keyof Params<Of> extends never ? undefined : Params<Of>> &
  Part<'query', QueryOf<Of>> &
  Part<'body', Given<Body<Of>>> &
  Options;

/** Required only where the endpoint must be given something. */
type Inputs<Of extends Name> = object extends Input<Of> ? [input?: Input<Of>] : [input: Input<Of>];

/** The same, of whichever endpoint. */
interface AnyInput extends Options {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

const NOTHING_HERE = 'There is nothing at this address. The link may be cut off or out of date.';

/** Whether what the server found wrong is the address alone, which the reader has not typed into any field. */
function isAboutPath(error: unknown, { params = {} }: AnyInput): boolean {
  if (!(error instanceof ApiProblem) || error.status !== 400) return false;
  return error.fields.length > 0 && error.fields.every(({ field }) => field in params);
}

const READ_ONLY = 'You look at a customer’s pages: nothing can be changed here.';

/** Where an endpoint is: in a tab in which an operator looks at a customer's pages, below that customer. */
function placeOf(name: Name, { params = {}, query = {} }: AnyInput): Pick<Ask, 'method' | 'path'> {
  const [method, path] = name.split(' ') as [Method, string];
  const filled = path.replace(/:(\w+)/g, (_, each: string) => encodeURIComponent(params[each] ?? ''));
  const customerId = viewedCustomer();
  const isOfEverybody = /^\/(auth|operator|installation|outbox)\b/.test(path);
  const isViewed = customerId !== undefined && !isOfEverybody;
  // The API has no such route either; this says so in words.
  if (isViewed && method !== 'GET') throw new ApiProblem(409, 'read_only', READ_ONLY);
  return { method, path: `/api${isViewed ? `/operator/customers/${customerId}/view` : ''}${filled}${queryText(query)}` };
}

/**
 * Asks one endpoint of the contract, by its name. Only types come from the contract: no schema reaches the browser.
 * The answer is taken to have its shape: the API comes from the same build, and its tests check every answer against it.
 * @throws ApiProblem
 */
export async function call<Of extends Name>(name: Of, ...[given]: Inputs<Of>): Promise<Answer<Of>> {
  // The next person to sign in may be somebody else.
  if (/ \/auth\/(sign-|verify|two-factor)/.test(name)) noteShownOrganisation(undefined);
  const input: AnyInput = given ?? {};
  try {
    return (await ask({ ...placeOf(name, input), ...input })) as Answer<Of>;
  } catch (error) {
    throw isAboutPath(error, input) ? new ApiProblem(404, 'not_found', NOTHING_HERE) : error;
  }
}

/** Endpoints that answer with a file. */
type FileName = { [Each in Name]: Contract[Each] extends { file: string } ? Each : never }[Name];

/** The address of a file, for a link. */
export function addressOf<Of extends FileName>(name: Of, ...[given]: Inputs<Of>): string {
  return placeOf(name, given ?? {}).path;
}

/** A file that takes a body to be had. @throws ApiProblem */
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
