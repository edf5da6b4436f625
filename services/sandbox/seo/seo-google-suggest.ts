import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, playMagic } from './seo-magic';

const ENDINGS = ['near me', 'price', 'in india', 'images', 'online', 'app', 'ideas', 'today', 'types', 'benefits'];

/** Google's suggestions in the form that browsers get. */
export function createSeoGoogleSuggest(): SandboxUpstream {
  return {
    name: 'seo-google-suggest',
    examples: [],
    routes(app) {
      app.get<{ Querystring: Record<string, string> }>('/complete/search', (request, reply) => {
        const { q: query = '', client } = request.query;
        if (client !== 'firefox') return reply.code(400).type('text/html').send('<title>Error 400 (Bad Request)</title>');
        if (playMagic(query, reply, true)) return reply;
        const found = isUnknown(query) ? [] : ENDINGS.map((ending) => `${query} ${ending}`);
        return reply
          .type('text/javascript; charset=UTF-8')
          .send(JSON.stringify([query, found, [], { 'google:suggestsubtypes': found.map(() => [512]) }]));
      });
    },
  };
}
