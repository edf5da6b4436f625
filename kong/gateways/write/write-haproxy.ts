import { type WrittenRoute } from './guarded-routes';
import { AUTHORITIES } from './write-nginx';

/** The defaults in haproxy.cfg. */
const USUAL = { connect: 2, read: 60 } as const;

/** The 503 that tollgate.lua sends if it could not ask. Used here if the action itself failed. */
const UNDECIDED = `content-type application/problem+json lf-string '${JSON.stringify({
  type: 'about:blank',
  title: 'Access check not possible',
  status: 503,
  detail: 'The request could not be checked and was refused. Try again shortly.',
  code: 'access_layer_unavailable',
  request_id: '%[var(txn.tollgate_id)]',
})}' hdr Retry-After 1`;

/** HAProxy matches the path as sent. Other gateways match the decoded path, in which `.` does not match a line feed. */
function asSent(pattern: string): string {
  return pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\./gs, (part) => (part === '.' ? '(?:(?!%0[aA]).)' : part));
}

/** Maps each path to its backend: the first match wins. */
export function haproxyMap(routes: readonly WrittenRoute[]): string {
  return routes.flatMap(({ name, patterns }) => patterns.map((pattern) => `${asSent(pattern)} ${name}\n`)).join('');
}

/** The backends, each of which asks the access layer first. */
export function haproxyBackends(routes: readonly WrittenRoute[]): string {
  return routes
    .map(({ name, question, upstream }) => {
      const { host, port, authority, base, isHttps, verifies, connect, read } = upstream;
      const check = verifies ? `verify required ca-file ${AUTHORITIES} verifyhost ${host}` : 'verify none';
      return [
        `backend ${name}`,
        `  http-request lua.tollgate ${question}`,
        `  http-request deny deny_status 503 ${UNDECIDED} unless { var(txn.tollgate_admitted) -m bool }`,
        '  http-request set-header X-Forwarded-Host %[req.hdr(host)]',
        `  http-request set-header Host ${authority}`,
        ...(base === '' ? [] : [`  http-request set-path ${base}%[path]`]),
        ...(connect === USUAL.connect ? [] : [`  timeout connect ${connect}s`]),
        ...(read === USUAL.read ? [] : [`  timeout server ${read}s`]),
        `  server ${name} ${host}:${port}${isHttps ? ` ssl sni str(${host}) alpn http/1.1 ${check}` : ''}`,
        '',
      ].join('\n');
    })
    .join('\n');
}
