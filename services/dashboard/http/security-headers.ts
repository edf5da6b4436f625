/**
 * What pages may load and run: only files of the dashboard, and nothing inline except styles with the page's nonce. Pages connect only to
 * the dashboard, which makes tried calls for them.
 * @param nonce of one page, for the styles that Mantine makes at run time
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
 * Headers of every response.
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
