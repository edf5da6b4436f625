/** A run of jest: everything it printed, and its exit code. */
export interface JestRun {
  readonly output: string;
  readonly exitCode: number;
}
export function summarise(runs: { readonly tests: JestRun; readonly kong: JestRun; readonly checkExitCode: number }): {
  readonly line: string;
  readonly ok: boolean;
};
