/**
 * What pages may load and run: files of the dashboard alone, and nothing that is written into the page but styles with its nonce. Pages talk
 * to the dashboard alone, which tries calls out for them.
 * @param nonce of one page, for the styles that Mantine makes while it runs
 */
export function contentPolicy(nonce?: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self'${nonce === undefined ? '' : ` 'nonce-${nonce}'`}`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Headers of every answer.
 * @param url the dashboard's own URL
 */
export function securityHeaders(url: string): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': contentPolicy(),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    // Links in mail carry tokens in their query.
    'Referrer-Policy': 'same-origin',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    ...(url.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}
