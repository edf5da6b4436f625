/** One complaint about one field of a request. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** A failed request, in words for the person who made it. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';

  constructor(
    /** 0 when no response came. */
    readonly status: number,
    /** For example `version_conflict`; `unreachable` when no response came. */
    readonly code: string,
    /** Title or explanation, whichever is clearer. */
    readonly text: string,
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(text);
  }

  /** True when trying again later may help: no response, or one from something in between that is not ready. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
  }

  /** Complaints about single fields, if the response has any. */
  get fields(): readonly FieldProblem[] {
    const errors = this.members['errors'];
    return Array.isArray(errors) ? errors.filter(isFieldProblem) : [];
  }

  /** A member of the response that is a number, else undefined. */
  numberMember(name: string): number | undefined {
    const value = this.members[name];
    return typeof value === 'number' ? value : undefined;
  }

  /** A member of the response that is text, else undefined. */
  textMember(name: string): string | undefined {
    const value = this.members[name];
    return typeof value === 'string' ? value : undefined;
  }
}

function isFieldProblem(value: unknown): value is FieldProblem {
  return isRecord(value) && typeof value['field'] === 'string' && typeof value['message'] === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No response: no network, or the server is down. */
export function unreachable(): ApiProblem {
  return new ApiProblem(0, 'unreachable', 'The server cannot be reached. Nothing was lost; try again.');
}

const GENERAL: Readonly<Record<number, string>> = {
  429: 'Too many attempts. Wait a little, then try again.',
  502: 'The server is not ready. Try again shortly.',
  503: 'The server is not ready. Try again shortly.',
  504: 'The server did not answer in time. Try again shortly.',
};

/** Replaces the sign-in library's texts for these codes, which do not say what to do. */
const SIGN_IN: Readonly<Record<string, string>> = {
  invalid_code: 'This code is wrong or too old. Enter the one that the app shows now.',
  invalid_backup_code: 'This recovery code is wrong or was used. Enter another one.',
  invalid_two_factor_cookie: 'This sign-in took too long. Go back and sign in again.',
};

/**
 * The problem in a failed response.
 * @param body parsed JSON: problem+json of the API, `{code, message}` of the sign-in routes, or anything else from in between
 */
export function problemFrom(status: number, body: unknown): ApiProblem {
  const members = isRecord(body) ? body : {};
  const code = typeof members['code'] === 'string' ? members['code'].toLowerCase() : `status_${status}`;
  const text = [SIGN_IN[code], members['detail'], members['message'], members['title']].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return new ApiProblem(status, code, typeof text === 'string' ? text : (GENERAL[status] ?? `The server answered ${status}.`), members);
}
