/**
 * Part of the file does not follow its format. If the report can do without the part, the error is caught there; otherwise it refuses the
 * file.
 */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

/** Reason why a file gets no report: it is not a ZIP, it is a broken APK, or analysing it would cost too much. */
export type ApkRefusalCode = 'not_an_apk' | 'apk_malformed' | 'apk_too_complex';

/** No report is possible. The message may be shown to the caller. */
export class ApkRefused extends Error {
  override readonly name = 'ApkRefused';

  constructor(
    readonly code: ApkRefusalCode,
    message: string,
  ) {
    super(message);
  }
}

/** Runs one part of the analysis. A malformed part adds a note instead of failing the report. */
export function tolerate<T>(work: () => T, fallback: T, note: (message: string) => void): T {
  try {
    return work();
  } catch (error) {
    return fallBack(error, fallback, note);
  }
}

/** The asynchronous form of {@link tolerate}. */
export async function tolerateAsync<T>(work: () => Promise<T>, fallback: T, note: (message: string) => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    return fallBack(error, fallback, note);
  }
}

function fallBack<T>(error: unknown, fallback: T, note: (message: string) => void): T {
  if (!(error instanceof MalformedError)) throw error;
  note(error.message);
  return fallback;
}
