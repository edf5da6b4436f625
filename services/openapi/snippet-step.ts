import { SAVED_AS } from '../own-routes/answers';
import { type ExampleFile, fileOf, type RouteExample } from './route-example';

/** A call as every language needs it. */
export interface Step {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly target: string;
  /** JSON members; undefined when there is no JSON body. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly file: ExampleFile | undefined;
  /** Sends the session of the call before. */
  readonly inSession: boolean;
  /** The answer is bytes, to be kept in a file of this name. */
  readonly savedAs: string | undefined;
}

function queryOf(input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
  return query === '' ? '' : `?${query}`;
}

/** @param isFirst false: the call belongs to the session that an earlier one opened */
export function stepOf(call: RouteExample, isFirst: boolean): Step {
  const file = fileOf(call);
  const isGet = call.method === 'GET';
  return {
    method: call.method,
    target: call.path + (isGet ? queryOf(call.input) : ''),
    body: isGet || file ? undefined : call.input,
    file,
    inSession: !isFirst,
    savedAs: SAVED_AS[call.path],
  };
}

/** An APK goes up as it is; other files are pictures. */
export const isApk = ({ file }: Step): boolean => file?.content_type === 'application/vnd.android.package-archive';

/** The session's part of a query, `marker` standing for its value in the language at hand; empty where the body carries it. */
export function sessionQuery({ method, target, inSession }: Step, marker: string): string {
  return inSession && method === 'GET' ? `${target.includes('?') ? '&' : '?'}sessionId=${marker}` : '';
}
