const NAME = 'tollgate.invitation';

/** Remembers an opened invitation while the person signs in or up, in this tab or another. Without the invited account it opens nothing. */
export function keepInvitation(token: string): void {
  try {
    localStorage.setItem(NAME, token);
  } catch {
    // If the browser stores nothing, the person opens the link again after signing in.
  }
}

export function findInvitation(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

export function forgetInvitation(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // Nothing was stored.
  }
}
