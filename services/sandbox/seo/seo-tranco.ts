import { type SandboxUpstream } from '../sandbox-upstream';
import { isUnknown, numberFor, playMagic } from './seo-magic';

/** Tranco's ranks of a domain, the latest first. */
export function createSeoTranco(): SandboxUpstream {
  return {
    name: 'seo-tranco',
    examples: [],
    routes(app) {
      app.get<{ Params: { domain: string } }>('/api/ranks/domain/:domain', (request, reply) => {
        const { domain } = request.params;
        if (playMagic(domain, reply)) return reply;
        if (isUnknown(domain)) return { ranks: [] };
        const rank = 1 + numberFor(`${domain} tranco`, 900_000);
        return {
          ranks: [
            { date: '2026-03-13', rank },
            { date: '2026-03-12', rank: rank + 7 },
          ],
        };
      });
    },
  };
}
