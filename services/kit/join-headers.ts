import { type Dispatcher } from 'undici';

/** Response headers by lower-case name; repeats are joined with a comma, as HTTP allows. */
export function joinHeaders(raw: Dispatcher.ResponseData['headers']): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}
