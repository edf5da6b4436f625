/** Part of the file is not what its format says. Caught where a part can fail alone; otherwise the file is refused with it. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

/** Why a file gets no report: it is no ZIP at all, it is a broken APK, or it would cost too much to look at. */
export type RefusalCode = 'not_an_apk' | 'apk_malformed' | 'apk_too_complex';

/** No report is possible. The message is fit for the caller. */
export class ApkRefused extends Error {
  override readonly name = 'ApkRefused';

  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message);
  }
}

/** Runs one part of the analysis; a malformed part costs a note, not the report. */
export function tolerate<T>(work: () => T, fallback: T, note: (message: string) => void): T {
  try {
    return work();
  } catch (error) {
    return fallBack(error, fallback, note);
  }
}

/** {@link tolerate} for work that waits. */
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
