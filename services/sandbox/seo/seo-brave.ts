import { type IncomingHttpHeaders } from 'node:http';
import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, playMagic } from './seo-magic';
import { resultsFor } from './seo-results';

const MAX_RESULTS = 20;
const MAX_PAGES = 10;
/** Brave's order differs from the other engine's: its first three results come last. */
const ROTATED = 3;

function refusal(status: number, code: string, detail: string): unknown {
  return { type: 'ErrorResponse', error: { code, detail, status } };
}

/** Shows the headers that describe the searcher in every snippet. */
function whereabouts({ 'x-loc-city': town, 'user-agent': agent = '' }: IncomingHttpHeaders): string {
  const device = agent.startsWith('Mozilla/') ? (agent.includes('Mobile') ? ' on a mobile' : ' on a desktop') : '';
  return town === undefined && device === '' ? '' : ` Seen${town === undefined ? '' : ` from ${String(town)}`}${device}.`;
}

/** Brave Search. `web` is missing when there is no result. */
export function createSeoBrave(): SandboxUpstream {
  return {
    name: 'seo-brave',
    examples: [],
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/res/v1/web/search', (request, reply) => {
        const { q: query = '', count = '20', offset = '0' } = request.query;
        if (!request.headers['x-subscription-token'])
          return reply.code(422).send(refusal(422, 'SUBSCRIPTION_TOKEN_INVALID', 'The provided subscription token is invalid.'));
        if (query === '' || Number(count) > MAX_RESULTS || Number(offset) >= MAX_PAGES)
          return reply.code(422).send(refusal(422, 'VALIDATION', 'Unable to validate request parameter(s)'));
        if (playMagic(query, reply, true)) return reply;
        const all = isUnknown(query) ? [] : resultsFor(query);
        const ordered = [...all.slice(ROTATED), ...all.slice(0, ROTATED)];
        const start = Number(offset) * Number(count);
        const results = ordered.slice(start, start + Number(count)).map(({ title, url, text }) => ({
          title,
          url,
          is_source_local: false,
          is_source_both: false,
          description: text.replace('about', '<strong>about</strong>') + whereabouts(request.headers),
          language: 'en',
          family_friendly: true,
        }));
        const answer = { type: 'search', query: { original: query, more_results_available: false } };
        return results.length === 0 ? answer : { ...answer, web: { type: 'search', results, family_friendly: true } };
      });
    },
  };
}
