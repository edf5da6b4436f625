import { type ExampleFile } from './route-example';

/** A call as every language needs it. */
export interface Step {
  /** Method in capitals. */
  readonly method: string;
  /** Path and query, fit for the quotes of every language. */
  readonly target: string;
  /** Besides the key and the type of the body. */
  readonly headers?: readonly (readonly [string, string])[];
  /** JSON; undefined when there is no JSON body. */
  readonly body: unknown;
  /** Fields of an urlencoded form. */
  readonly form?: readonly (readonly [string, string])[];
  /** Fields of a multipart form; those with a file take the file of their own name. */
  readonly upload?: { readonly files: readonly string[]; readonly fields: readonly (readonly [string, string])[] };
  readonly file: ExampleFile | undefined;
  /** Sends the session of the call before. */
  readonly inSession: boolean;
  /** The answer is bytes, to be kept in a file of this name. */
  readonly savedAs: string | undefined;
  /** The answer may be no JSON. */
  readonly answersText?: boolean;
}

/** The body as one text with its type; undefined where there is none, or it holds a file. */
export function bodyOf({ body, form }: Step): { readonly type: string; readonly text: string } | undefined {
  if (body !== undefined) return { type: 'application/json', text: JSON.stringify(body) };
  if (!form) return undefined;
  const text = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString();
  return { type: 'application/x-www-form-urlencoded', text };
}

/** An APK goes up as it is; other files are pictures. */
export const isApk = ({ file }: Step): boolean => file?.content_type === 'application/vnd.android.package-archive';

/** The session's part of a query, `marker` standing for its value in the language at hand; empty where the body carries it. */
export function sessionQuery({ method, target, inSession }: Step, marker: string): string {
  return inSession && method === 'GET' ? `${target.includes('?') ? '&' : '?'}sessionId=${marker}` : '';
}
