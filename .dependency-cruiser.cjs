// Who may import what. docs/architecture.md draws these rooms. The access decision stays free of I/O, and a product never reaches another
// product or a store.
const ours = '^(plugins|services|kong|cli|test|bench)/';
const web = '^services/dashboard/web/';

/** Forbids files under `from` to import any of our files except those under `allowed`. */
function only(name, from, allowed, comment) {
  return { name, comment, severity: 'error', from: { path: from }, to: { path: ours, pathNot: allowed } };
}

/** Forbids a room of the dashboard to import files of the dashboard except those under `allowed`. */
function dashboardRoom(room, allowed, comment) {
  const rooms = [room, 'contract', ...allowed].join('|');
  return {
    name: `dashboard-${room}`,
    comment,
    severity: 'error',
    from: { path: `^services/dashboard/${room}/` },
    to: { path: '^services/dashboard/', pathNot: `^services/dashboard/(${rooms})/` },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circle-of-files', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-circle-of-folders', severity: 'error', scope: 'folder', from: {}, to: { circular: true } },

    // plugins/: only what a gateway runs.
    only('core-is-pure', '^plugins/core/', ['^plugins/core/'], 'core decides; it imports nothing else of ours'),
    only(
      'ports-know-core-types',
      '^plugins/core/catalogue/',
      ['^plugins/core/(catalogue/|[^/]+$)'],
      'what is sold does not depend on how a request is checked',
    ),
    only(
      'access-knows-what-is-sold',
      '^plugins/core/access/',
      ['^plugins/core/(access/|catalogue/|[^/]+$)'],
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
    only('wire-is-bytes', '^plugins/server/wire/', ['^plugins/(core|server/wire)/'], 'the protocol of Kong as bytes and values'),
    only(
      'server-composes',
      '^plugins/server/(?!main|open-access-layer|stock/)',
      ['^plugins/(core|server)/'],
      'only open-access-layer.ts wires stores into the access layer, and main.ts that into the plugin server',
    ),
    only(
      'entrances-ask-the-access-layer',
      '^plugins/entrances/(lane|forward-auth|ext-authz)/',
      ['^plugins/(core|access-layer|server/wire)/', '^plugins/entrances/$1/'],
      'an entrance reads a request and writes a response; it decides nothing and knows no store',
    ),
    only('entrances-are-opened-together', '^plugins/entrances/[^/]+$', ['^plugins/(core|access-layer|entrances)/'], 'they have one plugin'),

    // services/: what is sold, the products, the dashboard.
    only(
      'selling-stands-on-the-database',
      '^services/selling/',
      ['^plugins/(core|stores/postgres)/', '^services/selling/'],
      'rules and their storage',
    ),
    only('kit-knows-core', '^services/kit/', ['^(plugins/core|plugins/tracing|services/kit)/'], 'the kit serves every product'),
    only(
      'product-is-alone',
      '^services/products/([^/]+)/',
      ['^plugins/core/', '^services/kit/', '^services/products/$1/', '^services/workers/generated/'],
      'a product uses the kit and core, never another product and never a store',
    ),
    only(
      'workers-use-the-kit',
      '^services/workers/',
      ['^(plugins/core|services/kit|services/workers)/'],
      'workers know the kit and their protos',
    ),
    only(
      'sandbox-is-alone',
      '^services/sandbox/',
      ['^(plugins/core|services/kit|services/sandbox)/'],
      'the sandbox must not share code with the adapters it checks',
    ),
    only(
      'openapi-reads-services',
      '^services/openapi/',
      ['^plugins/core/', '^services/(kit|openapi|products|sandbox)/'],
      'it describes what services and documents say; the examples are inputs that the sandbox documents',
    ),
    only(
      'dashboard-uses-selling',
      '^services/dashboard/(?!web/)',
      ['^plugins/core/', '^plugins/stores/postgres/(database|pool)\\.ts$', '^services/(selling|openapi|kit|dashboard)/'],
      'the dashboard changes keys through the same operations as the command line, and counts nothing itself',
    ),
    only(
      'contract-is-shared',
      '^services/dashboard/contract/',
      ['^plugins/core/', '^services/selling/', '^services/dashboard/contract/'],
      'the contract runs nothing',
    ),
    dashboardRoom('http', [], 'the ground floor knows no other room; what it needs of them it declares'),
    dashboardRoom('brand', ['http'], 'how the installation looks'),
    dashboardRoom('mail', ['http', 'brand'], 'how a letter is written and sent'),
    dashboardRoom('sign-in', ['http', 'brand', 'mail'], 'who somebody is'),
    dashboardRoom('billing', ['http', 'brand', 'mail', 'customer'], 'what is paid'),
    dashboardRoom('customer', ['http', 'brand', 'mail', 'sign-in', 'reference'], 'what a customer does'),
    dashboardRoom('seller', ['http', 'brand', 'mail', 'sign-in', 'customer', 'billing'], 'what a seller does'),
    dashboardRoom('storefront', ['http', 'brand', 'mail', 'customer', 'reference'], 'what everybody reads'),
    only(
      'reference-is-pure',
      '^services/dashboard/reference/',
      ['^services/dashboard/(contract|reference)/', '^services/openapi/parameter-style\\.ts$'],
      'what pages and the server say alike',
    ),
    {
      name: 'browsers-take-types-only',
      comment: 'no schema, store or server code may reach a browser',
      severity: 'error',
      from: { path: '^services/dashboard/(web|reference)/' },
      to: {
        path: ours,
        pathNot: ['^services/dashboard/(web|reference)/', '^services/openapi/parameter-style\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    only('web-knows-the-contract', web, ['^services/dashboard/(web|contract|reference)/'], 'pages know the API by its contract'),

    only(
      'kong-files-stand-alone',
      '^kong/',
      ['^(kong|plugins/core|plugins/server)/'],
      'the local gateway speaks the protocol and nothing else',
    ),
    { name: 'nothing-imports-tests', severity: 'error', from: { pathNot: '^(test|bench)/' }, to: { path: '^(test|bench)/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    exclude: '^dist/',
  },
};
