import { exampleCalls, type ExampleOf } from './route-example';
import { curlSnippet } from './snippet-curl';
import { javascriptSnippet } from './snippet-javascript';
import { pythonSnippet } from './snippet-python';
import { type Step, stepOf } from './snippet-step';

export type SnippetLanguage = 'curl' | 'javascript' | 'python';

export interface Snippet {
  readonly language: SnippetLanguage;
  readonly label: string;
  /** Runs as it stands with a test key in API_KEY and, where there is a file, the file beside it. */
  readonly code: string;
}

/**
 * The example of a route in three languages, with the calls that must come before it.
 * @param baseUrl of the gateway, without a slash at the end
 * @returns nothing for a route without an example
 */
export function snippetsOf(route: ExampleOf, baseUrl: string): readonly Snippet[] {
  const steps = exampleCalls(route).map((call, index) => stepOf(call, index === 0));
  return steps.length === 0 ? [] : writeSnippets(steps, baseUrl);
}

/** Calls, one after the other, in each language that can make them. */
export function writeSnippets(steps: readonly Step[], baseUrl: string): readonly Snippet[] {
  const snippets: Snippet[] = [
    { language: 'curl', label: 'curl', code: curlSnippet(baseUrl, steps) },
    { language: 'javascript', label: 'JavaScript', code: javascriptSnippet(baseUrl, steps) },
  ];
  if (steps.some(({ upload }) => upload)) return snippets;
  return [...snippets, { language: 'python', label: 'Python', code: pythonSnippet(baseUrl, steps) }];
}

/** As OpenAPI documents carry them. */
export const asCodeSamples = (snippets: readonly Snippet[]): readonly object[] =>
  snippets.map(({ language, label, code }) => ({ lang: language, label, source: code }));
