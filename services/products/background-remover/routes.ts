import { z } from 'zod';
import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { always, text } from '../../kit/service/route-description';
import { backgroundRemover } from './facts';

/** The route that now does the work. */
const SUCCESSOR = '/image/background_remover';

/** The first day on which the successor worked. Since then there is no reason to call this route. */
const DEPRECATED_AT = new Date('2026-11-20T00:00:00Z');

/** A year later: enough time for callers who release once a year. Keys of this product keep working at the successor. */
const SUNSET_AT = new Date('2027-11-20T00:00:00Z');

/** The legacy product id: an index that names the working route. It never redirects, because a redirect would lose the body. */
export const backgroundRemoverService = defineService({
  ...backgroundRemover,
  routes: [
    indexRoute('ANY', '/background_remover', {
      does: `Names the route that replaced this one: \`${SUCCESSOR}\`.`,
      headers: {
        values: {
          Link: `<${SUCCESSOR}>; rel="successor-version"`,
          Deprecation: `@${DEPRECATED_AT.getTime() / 1000}`,
          Sunset: SUNSET_AT.toUTCString(),
        },
        described: {
          200: {
            Link: always(text('The route that replaces this one.')),
            Deprecation: always(text('Time from which this route should not be used: `@` and Unix seconds (RFC 9745).')),
            Sunset: always(text('After this date the route may stop working (RFC 8594).')),
          },
        },
      },
      members: {
        schemas: { successor: z.string().describe('The route to use.'), message: z.string() },
        values: { successor: SUCCESSOR, message: `This product id is kept for existing keys. Use ${SUCCESSOR}.` },
      },
    }),
  ],
});
