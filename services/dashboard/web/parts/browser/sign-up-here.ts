import { safeReturn } from './safe-return';

const NAME = 'tollgate.signed-up-here';

/**
 * Remembers, until the mail's link opens in another tab, that this browser signed up and from where. It proves nothing: the proof is a
 * cookie that scripts cannot read.
 * @param from a path of this dashboard
 */
export function noteSignUpHere(from: string | undefined): void {
  try {
    localStorage.setItem(NAME, from ?? '/');
  } catch {
    // If the browser stores nothing, the person types the password again.
  }
}

/** @returns undefined when this browser did not sign up, or has forgotten it */
export function findSignUpHere(): { readonly from: string | undefined } | undefined {
  try {
    const from = localStorage.getItem(NAME);
    return from === null ? undefined : { from: safeReturn(from) };
  } catch {
    return undefined;
  }
}

export function forgetSignUpHere(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // Nothing was stored.
  }
}
