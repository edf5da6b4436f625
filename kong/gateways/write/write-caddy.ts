import { type WrittenRoute } from './guarded-routes';

function lines({ name, patterns, question, keyHeaders, stripped, upstream }: WrittenRoute): string[] {
  const { host, port, authority, base, isHttps, verifies, connect, read } = upstream;
  return [
    `@${name} path_regexp \`${patterns.length === 1 ? patterns.join('') : `^(?:${patterns.map((each) => each.slice(1)).join('|')})`}\``,
    `handle @${name} {`,
    '\troute {',
    `\t\timport tollgate ${question}`,
    ...keyHeaders.map((header) => `\t\trequest_header -${header}`),
    ...(stripped === '' ? [] : [`\t\turi strip_prefix ${stripped}`]),
    // The query stays, because the new address has none.
    ...(base === '' ? [] : [`\t\trewrite * ${base}{http.request.uri.path}`]),
    `\t\treverse_proxy ${isHttps ? 'https://' : ''}${host}:${port} {`,
    `\t\t\theader_up Host ${authority}`,
    '\t\t\theader_up X-Real-IP {http.request.remote.host}',
    '\t\t\timport tollgate_units',
    '\t\t\ttransport http {',
    ...(isHttps ? [`\t\t\t\ttls_server_name ${host}`] : []),
    ...(isHttps && !verifies ? ['\t\t\t\ttls_insecure_skip_verify'] : []),
    `\t\t\t\tdial_timeout ${connect}s`,
    `\t\t\t\tresponse_header_timeout ${read}s`,
    '\t\t\t}',
    '\t\t}',
    '\t}',
    '}',
  ];
}

/** For a site: each route asks the access layer first, then goes to its API. */
export function caddyRoutes(routes: readonly WrittenRoute[]): string {
  return routes.map((route) => `${lines(route).join('\n')}\n`).join('');
}
