import { exampleCalls, type ExampleOf } from './route-example';
import { curlSnippet } from './snippet-curl';
import { javascriptSnippet } from './snippet-javascript';
import { pythonSnippet } from './snippet-python';
import { stepOf } from './snippet-step';

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
  if (steps.length === 0) return [];
  return [
    { language: 'curl', label: 'curl', code: curlSnippet(baseUrl, steps) },
    { language: 'javascript', label: 'JavaScript', code: javascriptSnippet(baseUrl, steps) },
    { language: 'python', label: 'Python', code: pythonSnippet(baseUrl, steps) },
  ];
}
