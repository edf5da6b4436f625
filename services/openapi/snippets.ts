import { curlSnippet } from './snippet-curl';
import { goSnippet } from './snippet-go';
import { javascriptSnippet } from './snippet-javascript';
import { phpSnippet } from './snippet-php';
import { pythonSnippet } from './snippet-python';
import { type Step } from './snippet-step';

export type SnippetLanguage = 'curl' | 'javascript' | 'python';

export interface Snippet<Language = SnippetLanguage> {
  readonly language: Language;
  readonly label: string;
  /** Runs unchanged with a test key in API_KEY and, if it needs a file, with that file beside it. */
  readonly code: string;
}

/** A sequence of calls in each language that can make them. */
export function writeSnippets(steps: readonly Step[], baseUrl: string): readonly Snippet[] {
  const snippets: Snippet[] = [
    { language: 'curl', label: 'curl', code: curlSnippet(baseUrl, steps) },
    { language: 'javascript', label: 'JavaScript', code: javascriptSnippet(baseUrl, steps) },
  ];
  if (steps.some(({ upload }) => upload)) return snippets;
  return [...snippets, { language: 'python', label: 'Python', code: pythonSnippet(baseUrl, steps) }];
}

/** A single call without a session in each language that can make it. */
export function writeCall(step: Step, baseUrl: string): readonly Snippet<SnippetLanguage | 'go' | 'php'>[] {
  const snippets = writeSnippets([step], baseUrl);
  if (step.upload) return snippets;
  return [
    ...snippets,
    { language: 'go', label: 'Go', code: goSnippet(baseUrl, step) },
    { language: 'php', label: 'PHP', code: phpSnippet(baseUrl, step) },
  ];
}

/** Snippets as OpenAPI documents carry them. */
export const asCodeSamples = (snippets: readonly Snippet<string>[]): readonly object[] =>
  snippets.map(({ language, label, code }) => ({ lang: language, label, source: code }));
