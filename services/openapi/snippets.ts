import { curlSnippet } from './snippet-curl';
import { javascriptSnippet } from './snippet-javascript';
import { pythonSnippet } from './snippet-python';
import { type Step } from './snippet-step';

export type SnippetLanguage = 'curl' | 'javascript' | 'python';

export interface Snippet {
  readonly language: SnippetLanguage;
  readonly label: string;
  /** Runs as it stands with a test key in API_KEY and, where there is a file, the file beside it. */
  readonly code: string;
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
