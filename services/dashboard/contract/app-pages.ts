/** First parts of the addresses of the application's pages. A test compares them with its routes. */
const APP_PAGES: ReadonlySet<string> = new Set([
  ...['', 'account', 'alerts', 'audit', 'billing', 'confirm-email', 'explain', 'forgot', 'invitation', 'keys', 'no-organisation'],
  ...['operator', 'outbox', 'plans', 'requests', 'reset-password', 'second-step', 'sign-in', 'sign-up', 'signed-in', 'statements'],
  ...['team', 'tokens', 'usage', 'verify', 'webhooks'],
]);

/** Whether the application may have a page at a path. */
export function isAppPage(path: string): boolean {
  return APP_PAGES.has(path.split('/')[1] ?? '');
}
