import { parse } from 'yaml';
import { z } from 'zod';
import { KEY_PLACES, readKeyPlace } from '../../plugins/core/key-places';
import { AS_KONG_READS } from '../as-kong-reads';

/** Kong's own defaults. */
const keyAuth = z.object({
  name: z.literal('key-auth'),
  config: z
    .object({
      key_names: z
        .array(z.string())
        .nullish()
        .transform((names) => names ?? ['apikey']),
      key_in_header: z
        .boolean()
        .nullish()
        .transform((given) => given ?? true),
      key_in_query: z
        .boolean()
        .nullish()
        .transform((given) => given ?? true),
    })
    .nullish(),
});
type KeyAuth = z.output<typeof keyAuth>;

const plugins = z.array(z.unknown()).nullish();
const routes = z.array(z.looseObject({ name: z.string().nullish(), plugins })).nullish();
const file = z.looseObject({ plugins, routes, services: z.array(z.looseObject({ plugins, routes })).nullish() });

/** Places that accept our keys already. */
const OURS: readonly string[] = ['header:x-api-key', 'query:api_key'];

/** Reads the key-auth of one route, of its service, or of the file; if no route is named, all of them. */
function findKeyAuth(kongYml: string, route: string | undefined): KeyAuth[] {
  const { data } = file.safeParse(parse(kongYml, AS_KONG_READS));
  const of = (list: readonly unknown[] | null | undefined): KeyAuth[] => (list ?? []).flatMap((each) => keyAuth.safeParse(each).data ?? []);
  const services = data?.services ?? [];
  const all = [
    ...services.flatMap((service) => (service.routes ?? []).map((each) => ({ each, service }))),
    ...(data?.routes ?? []).map((each) => ({ each, service: undefined })),
  ];
  const meant = all.filter(({ each }) => route === undefined || each.name === route);
  const near = meant.flatMap(({ each, service }) => (of(each.plugins).length > 0 ? of(each.plugins) : of(service?.plugins)));
  return near.length > 0 ? near : of(data?.plugins);
}

/**
 * Notes about the `key_in` with which callers can send imported keys as before, one line each. It is only proposed: a caller who sends the
 * old key there and one of ours elsewhere would be refused.
 * @param kongYml the seller's file; empty if there is none
 */
export function proposePlaces(kongYml: string, route: string | undefined): string[] {
  const wanted = findKeyAuth(kongYml, route).flatMap(({ config }) => {
    const { key_names: names = ['apikey'], key_in_header: inHeader = true, key_in_query: inQuery = true } = config ?? {};
    return names.flatMap((name) => [...(inHeader ? [`header:${name}`] : []), ...(inQuery ? [`query:${name}`] : [])]);
  });
  const read = [...new Set(wanted)]
    .filter((text) => !OURS.includes(text.toLowerCase()))
    .map((text) => ({ text, place: readKeyPlace(text) }));
  const own = read.flatMap(({ place }) => (typeof place === 'string' ? [place] : []));
  const lost = read.filter(({ place }) => typeof place !== 'string');
  const block = `key_in: [${[...KEY_PLACES, ...own].join(', ')}]`;
  return [
    ...(own.length === 0
      ? []
      : [`kong.yml: has key-auth. To take imported keys where callers send them now, write in the block: ${block}`]),
    ...lost.map(({ text }) => `kong.yml: key-auth takes keys in ${text}, which the access layer cannot; tell your callers another place`),
  ];
}
