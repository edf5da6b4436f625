// Who may import what. The access decision stays free of I/O, a product never reaches another product or a store.
const ours = '^(plugins|services|kong|cli|test)/';
/** Forbids files under `from` to import any of our files except those under `allowed`. */
function only(name, from, allowed, comment) {
  return { name, comment, severity: 'error', from: { path: from }, to: { path: ours, pathNot: allowed } };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    only('core-is-pure', '^plugins/core/', ['^plugins/core/'], 'core decides; it imports nothing else of ours'),
    only(
      'selling-stands-alone',
      '^plugins/core/selling/',
      ['^plugins/core/selling/', '^plugins/core/[^/]+$'],
      'what is sold does not depend on how a request is checked',
    ),
    only(
      'access-knows-what-is-sold',
      '^plugins/core/access/',
      ['^plugins/core/(access|selling)/', '^plugins/core/[^/]+$'],
      'the checks run before a proof is made',
    ),
    {
      name: 'core-has-no-io',
      severity: 'error',
      from: { path: '^plugins/core/' },
      to: { path: '^(node:)?(fs|http|https|http2|child_process|dns|tls|dgram)' },
    },
    only('stores-know-core', '^plugins/stores/', ['^plugins/(core|stores)/'], 'stores implement the ports of core'),
    only('access-layer-gets-ports', '^plugins/access-layer/', ['^plugins/(core|access-layer)/'], 'the plugin gets ports, never a store'),
    only('tracing-knows-nobody', '^plugins/tracing/', ['^plugins/tracing/'], 'every process starts tracing with it'),
    only(
      'server-composes',
      '^plugins/server/(?!main|open-access-layer)',
      ['^plugins/(core|server)/'],
      'only open-access-layer.ts wires stores into the access layer, and main.ts that into the plugin server',
    ),
    only(
      'stock-server-runs-the-access-layer',
      '^plugins/stock-server/',
      ['^plugins/(access-layer|core|server)/'],
      'the module that kong-pdk loads adds nothing to the decision',
    ),
    only(
      'entrances-ask-the-access-layer',
      '^plugins/(forward-auth|ext-authz)/',
      ['^plugins/(core|access-layer)/', '^plugins/$1/'],
      'an entrance reads a request and writes an answer; it decides nothing and knows no store',
    ),
    only(
      'lane-asks-the-access-layer',
      '^plugins/lane/',
      ['^plugins/(core|access-layer|lane)/', '^plugins/server/frames\\.ts$'],
      'it cuts its frames as the plugin server does',
    ),
    only(
      'entrances-are-opened-together',
      '^plugins/entrances/',
      ['^plugins/(core|access-layer|forward-auth|ext-authz|lane|entrances)/'],
      'they have one plugin',
    ),
    only('kit-knows-core', '^services/kit/', ['^(plugins/core|plugins/tracing|services/kit)/'], 'the kit serves every product'),
    {
      name: 'product-is-alone',
      comment: 'a product uses the kit and core, never another product and never a store',
      severity: 'error',
      from: { path: '^services/(aadhaar|app|background-remover|gdplay|glead|grank|gst|image|ip|pincode|seo|vahaan)/' },
      to: { path: ours, pathNot: ['^plugins/core/', '^services/kit/', '^services/$1/', '^services/workers/generated/'] },
    },
    only(
      'workers-use-the-kit',
      '^services/workers/',
      ['^(plugins/core|services/kit|services/workers)/', '^services/own-sources\\.ts$'],
      'workers know the kit, their protos and which settings are a source',
    ),
    {
      name: 'openapi-knows-no-dashboard',
      comment: 'the dashboard uses the description of the API, not the other way round',
      severity: 'error',
      from: { path: '^services/openapi/' },
      to: { path: '^services/dashboard/' },
    },
    only(
      'dashboard-uses-stores',
      '^services/dashboard/(api|contract)/',
      [
        '^plugins/core/',
        '^plugins/stores/postgres/',
        '^services/kit/',
        '^services/own-sources\\.ts$',
        '^services/openapi/(read-document|describe-api|error-table|example-value|parameter-style|resolve-references|sound-parts)\\.ts$',
        '^services/dashboard/(api|contract|reference)/',
      ],
      'the dashboard changes keys through the same operations as the command line, and counts nothing itself',
    ),
    only(
      'dashboard-contract-is-shared',
      '^services/dashboard/contract/',
      ['^plugins/core/', '^services/dashboard/contract/'],
      'the contract runs nothing',
    ),
    only(
      'dashboard-reference-is-pure',
      '^services/dashboard/reference/',
      ['^services/dashboard/(contract|reference)/', '^services/openapi/parameter-style\\.ts$'],
      'what pages and the server say alike of the API’s description',
    ),
    {
      name: 'dashboard-reference-takes-types-only',
      comment: 'it reaches a browser',
      severity: 'error',
      from: { path: '^services/dashboard/reference/' },
      to: { path: '^services/dashboard/contract/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'dashboard-pages-know-types-only',
      comment: 'no schema, store or server code may reach a browser',
      severity: 'error',
      from: { path: '^services/dashboard/web/' },
      to: { path: ours, pathNot: '^services/dashboard/(web|reference)/', dependencyTypesNot: ['type-only'] },
    },
    only(
      'dashboard-pages-know-the-contract',
      '^services/dashboard/web/',
      ['^services/dashboard/(web|contract|reference)/'],
      'pages know the API by its contract',
    ),
    only(
      'sandbox-is-alone',
      '^services/sandbox/',
      ['^(plugins/core|services/kit|services/sandbox)/'],
      'the sandbox must not share code with the adapters it checks',
    ),
    only(
      'local-gateway-is-outside',
      '^kong/',
      ['^(kong|plugins/core|plugins/server)/'],
      'the local gateway speaks the protocol and nothing else',
    ),
    only('web-knows-the-contract', '^services/dashboard/web/', ['^services/dashboard/(web|contract|reference)/'], 'pages run in a browser'),
    {
      name: 'web-takes-types-only',
      comment: 'the contract brings a validator and the catalogue along, which no page needs',
      severity: 'error',
      from: { path: '^services/dashboard/web/' },
      to: { path: '^services/dashboard/contract/', dependencyTypesNot: ['type-only'] },
    },
    { name: 'nothing-imports-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: '^dist/',
  },
};
