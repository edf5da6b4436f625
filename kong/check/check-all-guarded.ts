import { z } from 'zod';
import { type CheckedProduct, type Guarding } from './check-guard';
import { type Gateway, type Guard, type CheckedRoute, type CheckedService } from './read-gateway';

/** The paths that the gateway serves without a key: the catalogue, and the description of the API. */
const OPEN_PATHS: readonly string[] = ['~/$', '~/openapi\\.json$'];
const OPEN_METHODS: readonly string[] = ['GET', 'HEAD'];
/** Headers that must not be passed on from there. */
const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key'];
const KEY_ARGUMENT = 'api_key';

const removal = z.object({
  name: z.literal('request-transformer'),
  enabled: z.literal(true).nullish(),
  config: z.object({ remove: z.object({ headers: z.array(z.string()), querystring: z.array(z.string()) }) }),
});

/**
 * The problems of a kong.yml that is Tollgate's alone. Every service must have the access layer, and routes must look like the example's,
 * so that another gateway can be configured from it and nothing else is reachable.
 */
export function checkAllGuarded({ services, routes, guards }: Gateway, guarding: Guarding, catalogue: readonly CheckedProduct[]): string[] {
  const isTopLevel = ({ service, route }: Guard): boolean => service === undefined && route === undefined;
  return [
    ...routes
      .filter(({ isNested }) => !isNested)
      .map(({ entity: { name = '(unnamed)' } }) => `route ${name}: stands outside every service; write it below its service`),
    ...guards
      .filter(isTopLevel)
      .map(({ name }) => `kong.yml: has the plugin ${name} outside every service; each service needs its own, with its product`),
    ...services.flatMap((service) =>
      checkService(
        service,
        routes.filter((route) => route.isNested && route.service === service),
        guarding,
      ),
    ),
    ...guards.flatMap(({ name, route }) =>
      route ? [`${route.label}: has the plugin ${name} of its own, which would replace that of its service or be asked beside it`] : [],
    ),
    ...catalogue.flatMap(({ id, prefix }) => (prefix === null ? [] : findBeyond(id, prefix, routes))),
  ];
}

function checkService(service: CheckedService, routes: readonly CheckedRoute[], guarding: Guarding): string[] {
  const guards = routes.map((route) => guarding.get(route)?.[0]).map((guard) => ((guard?.service ?? guard?.route) ? guard : undefined));
  if (routes.length > 0 && routes.every(isOpen) && guards.every((guard) => !guard)) return checkOpen(service, routes);
  const problems = routes.flatMap((route) => checkRoute(route, guarding.get(route)?.[0]));
  const isOpenToAll = routes.length === 0 || guards.some((guard) => !guard);
  return isOpenToAll ? [`${service.label}: has no access-layer plugin: its routes are open to everyone`, ...problems] : problems;
}

/** Whether a route takes only the open addresses, spelled as in the example. Another spelling may take more. */
function isOpen({ entity: { paths = [] }, methods = [] }: CheckedRoute): boolean {
  return (
    paths.length > 0 &&
    paths.every((path) => OPEN_PATHS.includes(path)) &&
    methods.length > 0 &&
    methods.every((method) => OPEN_METHODS.includes(method))
  );
}

function checkOpen({ label, entity }: CheckedService, routes: readonly CheckedRoute[]): string[] {
  const removed = (entity.plugins ?? []).flatMap((plugin) => removal.safeParse(plugin).data?.config.remove ?? []);
  const headers = removed.flatMap((each) => each.headers).map((header) => header.toLowerCase());
  const isRemoved = KEY_HEADERS.every((header) => headers.includes(header));
  const isRemovedFromQuery = removed.some(({ querystring }) => querystring.includes(KEY_ARGUMENT));
  const problems = routes
    .filter(({ entity: { strip_path: strips } }) => strips !== false)
    .map((route) => `${route.label}: strip_path must be false: its addresses are told apart by it`);
  return isRemoved && isRemovedFromQuery
    ? problems
    : [
        ...problems,
        `${label}: needs a request-transformer that removes ${[...KEY_HEADERS, KEY_ARGUMENT].join(', ')}: a key sent there would be passed on`,
      ];
}

function checkRoute({ label, entity, methods, paths }: CheckedRoute, guard: Guard | undefined): string[] {
  const problems: string[] = [];
  // An API outside Tollgate has paths of its own. For Tollgate's services the gateway sets the fields.
  const isOurs = guard?.config.rate_limit_headers !== 'gateway';
  if (isOurs && entity.strip_path !== false) problems.push(`${label}: strip_path must be false: services are served under their full path`);
  if (methods !== undefined) problems.push(`${label}: names methods: Kong would respond with 404 where the service responds with 405`);
  for (const { text, isRegex } of paths) {
    // `/weather/` ends at a boundary, `/weather` does not.
    if (!isRegex && !text.endsWith('/')) problems.push(`${label}: path ${text} is a prefix without a boundary; write ~${text}(?:/.*)?$`);
    else if (isRegex && !text.endsWith('$')) problems.push(`${label}: path ${text} is not anchored with $`);
  }
  return problems;
}

/** `/ipx` belongs to no service. A route that takes it does not end at a boundary. */
function findBeyond(product: string, prefix: string, routes: readonly CheckedRoute[]): string[] {
  const beyond = `${prefix}x`;
  const services = new Set(routes.filter(({ paths }) => paths.some((path) => path.takes(beyond))).map(({ service }) => service));
  return [...services].map((service) => `product ${product}: ${beyond} also reaches ${service?.label ?? 'a route without a service'}`);
}
