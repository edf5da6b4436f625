import { type ExampleFile } from './route-example';

/** The parts of a call that every language needs. */
export interface Step {
  /** Method in capitals. */
  readonly method: string;
  /** Path and query, safe between the quotes of every language. */
  readonly target: string;
  /** Headers besides the key and the body's type. */
  readonly headers?: readonly (readonly [string, string])[];
  /** JSON; undefined when there is no JSON body. */
  readonly body: unknown;
  /** Fields of an urlencoded form. */
  readonly form?: readonly (readonly [string, string])[];
  /** Fields of a multipart form. Each name in `files` is sent with the file of that name. */
  readonly upload?: { readonly files: readonly string[]; readonly fields: readonly (readonly [string, string])[] };
  readonly file: ExampleFile | undefined;
  /** True if the call sends the session of the previous call. */
  readonly inSession: boolean;
  /** The file to which a response of bytes is saved; undefined for any other response. */
  readonly savedAs: string | undefined;
  /** True if the response may not be JSON. */
  readonly answersText?: boolean;
}

/** The body as one text, with its type; undefined if there is none or it holds a file. */
export function bodyOf({ body, form }: Step): { readonly type: string; readonly text: string } | undefined {
  if (body !== undefined) return { type: 'application/json', text: JSON.stringify(body) };
  if (!form) return undefined;
  const text = new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])).toString();
  return { type: 'application/x-www-form-urlencoded', text };
}

/** An APK is sent as it is. Other files are images. */
export const isApk = ({ file }: Step): boolean => file?.content_type === 'application/vnd.android.package-archive';

/** The session's part of a query, with `marker` for its value in the language at hand; empty if the body has the session. */
export function sessionQuery({ method, target, inSession }: Step, marker: string): string {
  return inSession && method === 'GET' ? `${target.includes('?') ? '&' : '?'}sessionId=${marker}` : '';
}
