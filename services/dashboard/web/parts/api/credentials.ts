/** The API's minimum for a password. */
export const PASSWORD_MIN = 10;
const PASSWORD_MAX = 128;

/** For the form: a complaint, or null. The server decides. */
export function checkEmail(value: string): string | null {
  return /^\S+@\S+$/.test(value.trim()) ? null : 'Enter an email address, such as name@example.com.';
}

/** For the form: a complaint, or null. */
export function checkNewPassword(value: string): string | null {
  if (value.length < PASSWORD_MIN) return `Use at least ${PASSWORD_MIN} characters.`;
  return value.length > PASSWORD_MAX ? `Use at most ${PASSWORD_MAX} characters.` : null;
}
