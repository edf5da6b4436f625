import { type SandboxUpstream } from '../sandbox-upstream';

const DOMAINS = ['# spam domains', 'casino-bonus-slots-777.top', '0.0.0.0 listed.example', 'blocked-goods.example'];

/** A list of spam domains, one a line. */
export function createSeoBlockList(): SandboxUpstream {
  return {
    name: 'seo-block-list',
    examples: [],
    routes(app) {
      app.get('/domains.txt', (_request, reply) =>
        reply
          .type('text/plain')
          .header('last-modified', 'Sun, 01 Mar 2026 06:00:00 GMT')
          .send(`${DOMAINS.join('\n')}\n`),
      );
    },
  };
}
