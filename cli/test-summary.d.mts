/** The members of jest's results file that the summary reads. */
export interface JestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly numRuntimeErrorTestSuites: number;
}
export function summarise(run: {
  readonly results: JestResults | undefined;
  readonly testExitCode: number;
  readonly checkExitCode: number;
}): { readonly line: string; readonly ok: boolean };
