import { type Route } from '../kit/service/define-service';
import { exampleCalls, fileOf, type RouteExample } from './route-example';
import { type Step } from './snippet-step';
import { type Snippet, writeSnippets } from './snippets';

function queryOf(input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(Object.entries(input).map(([name, value]): [string, string] => [name, String(value)])).toString();
  return query === '' ? '' : `?${query}`;
}

/**
 * @param savedAs of the last route
 * @param isFirst false if the call belongs to the session of an earlier call
 */
function stepOf(call: RouteExample, { isFirst, savedAs }: { readonly isFirst: boolean; readonly savedAs: string | undefined }): Step {
  const file = fileOf(call);
  const isGet = call.method === 'GET';
  return {
    method: call.method,
    target: call.path + (isGet ? queryOf(call.input) : ''),
    body: isGet || file ? undefined : call.input,
    file,
    inSession: !isFirst,
    savedAs,
  };
}

/**
 * The example of a route in each language, with the calls that must come before it.
 * @param baseUrl of the gateway, without a trailing slash
 * @returns an empty list for a route without an example
 */
export function snippetsOf(route: Pick<Route, 'method' | 'path' | 'example' | 'savedAs'>, baseUrl: string): readonly Snippet[] {
  const steps = exampleCalls(route).map((call, index, { length }) =>
    stepOf(call, { isFirst: index === 0, savedAs: index === length - 1 ? route.savedAs : undefined }),
  );
  return steps.length === 0 ? [] : writeSnippets(steps, baseUrl);
}
