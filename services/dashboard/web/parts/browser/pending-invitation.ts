const NAME = 'tollgate.invitation';

/** Remembers the invitation whose link was opened while somebody signs in or up, in this tab or another. Without the invited account it opens nothing. */
export function keepInvitation(token: string): void {
  try {
    localStorage.setItem(NAME, token);
  } catch {
    // A browser that keeps nothing has the link opened again after signing in.
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
    // Nothing was kept.
  }
}
