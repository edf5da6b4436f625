import { type FastifyReply } from 'fastify';
import { closeConnection, neverAnswer, type SandboxExample, type SandboxUpstream } from '../sandbox-upstream';
import { findWorldPlaces, MAGIC_CODES } from './world-places';

function example(outcome: string, input: { country: string; pin: string }, yields: string): SandboxExample {
  return { product: 'api-pincode', route: '/pincode', method: 'GET', outcome, input, yields };
}

function american(outcome: string, pin: string, yields: string): SandboxExample {
  return example(outcome, { country: 'US', pin }, yields);
}

const examples: readonly SandboxExample[] = [
  american('success_world', '90210', '200, Beverly Hills; the sandbox knows a place or two in AR AU BR CA CH DE FR GB IE JP MT NL US'),
  example('success_partial_code', { country: 'GB', pin: 'SW1A 1AA' }, '200, asked with the outward part SW1A'),
  american('no_records_world', MAGIC_CODES.missing, '404 provider_error, reason no_records'),
  american('bad_response_world', MAGIC_CODES.notJson, '502 provider_error, reason bad_response'),
  american('provider_down_world', MAGIC_CODES.down, '502 provider_error, reason unreachable'),
  american('provider_closes_world', MAGIC_CODES.closed, '502 provider_error, reason unreachable'),
  american('provider_quota_world', MAGIC_CODES.overQuota, '502 provider_error, reason provider_quota'),
  american('timeout_world', MAGIC_CODES.silent, '504 provider_error, reason timeout'),
];

/** Keys with spaces, coordinates as text with four decimals, members in the real service's order. */
function bodyOf(country: string, code: string): unknown {
  const places = findWorldPlaces(country, code);
  const [first] = places;
  if (!first) return undefined;
  return {
    'post code': first.code,
    country: first.countryName,
    'country abbreviation': first.country,
    places: places.map((each) => ({
      'place name': each.place,
      longitude: each.longitude.toFixed(4),
      state: each.state,
      'state abbreviation': each.stateCode,
      latitude: each.latitude.toFixed(4),
    })),
  };
}

function answer(country: string, code: string, reply: FastifyReply): unknown {
  switch (code) {
    case MAGIC_CODES.notJson:
      return reply.type('text/html').send('<!DOCTYPE html><title>Error</title>');
    case MAGIC_CODES.down:
      return reply.code(502).send('Bad Gateway');
    case MAGIC_CODES.closed:
      return closeConnection(reply);
    case MAGIC_CODES.silent:
      return neverAnswer(reply);
    case MAGIC_CODES.overQuota:
      return reply.code(429).send('Too Many Requests');
    default: {
      const body = bodyOf(country, code);
      return body ?? reply.code(404).send({});
    }
  }
}

/** zippopotam.us. */
export function createZippopotam(): SandboxUpstream {
  return {
    name: 'zippopotam',
    examples,
    routes(app) {
      app.get<{ Params: { country: string; code: string } }>('/:country/:code', (request, reply) =>
        answer(request.params.country, request.params.code, reply),
      );
    },
  };
}
