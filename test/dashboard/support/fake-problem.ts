/** A refusal as the API utters it. */
export class FakeProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(code);
  }
}
