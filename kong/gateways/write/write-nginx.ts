import { type WrittenRoute } from './guarded-routes';

/** The defaults in nginx.conf. */
const USUAL = { connect: 2, send: 60, read: 60 } as const;
/** Debian's own bundle, which kong.conf names too. */
export const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

/** A regular expression with a brace or space is a single word only in quotes. */
const word = (text: string): string => (/[{};\s]/.test(text) ? `"${text}"` : text);

const indented = (lines: readonly string[], depth: string): string => lines.map((line) => `${depth}${line}\n`).join('');

/** For the http block: an upstream for each address, with keep-alive connections. */
export function nginxUpstreams(routes: readonly WrittenRoute[]): string {
  return routes.map(({ name, upstream: { host, port } }) => `upstream ${name} {\n  server ${host}:${port};\n  keepalive 32;\n}\n`).join('');
}

function locationLines({ name, question, keyHeaders, upstream, buffersBody }: WrittenRoute, guard: string): string[] {
  const { authority, base, isHttps, verifies, host } = upstream;
  const timeouts = (['connect', 'send', 'read'] as const).flatMap((kind) =>
    upstream[kind] === USUAL[kind] ? [] : [`proxy_${kind}_timeout ${upstream[kind]}s;`],
  );
  const tls = [
    'proxy_ssl_server_name on;',
    `proxy_ssl_name ${host};`,
    ...(verifies ? ['proxy_ssl_verify on;', 'proxy_ssl_verify_depth 5;', `proxy_ssl_trusted_certificate ${AUTHORITIES};`] : []),
  ];
  return [
    `set $tollgate_product '${question}';`,
    `include ${guard};`,
    ...keyHeaders.map((header) => `proxy_set_header ${header} '';`),
    `proxy_set_header Host ${authority};`,
    ...timeouts,
    ...(buffersBody ? [] : ['# Uploads go on as they come: the proof is good for 60 s.', 'proxy_request_buffering off;']),
    ...(isHttps ? tls : []),
    `proxy_pass ${isHttps ? 'https' : 'http'}://${name}${base}$tollgate_uri;`,
  ];
}

/** For a server block. @param guard the path of guard.conf */
export function nginxRoutes(routes: readonly WrittenRoute[], guard: string): string {
  return routes
    .flatMap((route) => route.patterns.map((pattern) => `location ~ ${word(pattern)} {\n${indented(locationLines(route, guard), '  ')}}\n`))
    .join('');
}
