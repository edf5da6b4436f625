/** Results of a sign-in by a provider, by the server's name in the address. */
const TEXTS: Readonly<Record<string, string>> = {
  denied: 'The provider says that you cancelled. Nothing has changed.',
  exists:
    'There is an account with this email address already. Sign in with its password, then connect the provider on your account page. If you do not know the password, set a new one.',
  unverified: 'The provider has not verified your email address. Verify it there, or use a password here.',
  operator: 'Operators sign in with their password and second factor.',
  elsewhere: 'This account of the provider already opens another account here.',
  expired: 'This sign-in was begun in another browser, was used already, or took longer than 10 minutes. Try again.',
};

const FAILED = 'The provider did not confirm who you are. Try again, or use your password.';

/** The text for people. */
export function providerText(outcome: string): string {
  return TEXTS[outcome] ?? FAILED;
}
