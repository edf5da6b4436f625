import { z } from 'zod';
import { defineService } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { always, text } from '../../kit/service/route-description';
import { backgroundRemover } from './facts';

/** Where the work is done now. */
const SUCCESSOR = '/image/background_remover';

/** The legacy product id: an index that names the working route. It never redirects: a redirect would lose the body. */
export const backgroundRemoverService = defineService({
  ...backgroundRemover,
  routes: [
    indexRoute('ANY', '/background_remover', {
      does: `Names the route that took the place of this one: \`${SUCCESSOR}\`.`,
      headers: {
        values: { Link: `<${SUCCESSOR}>; rel="successor-version"` },
        described: { 200: { Link: always(text('The route that takes this one’s place.')) } },
      },
      members: {
        schemas: { successor: z.string().describe('The route to use.'), message: z.string() },
        values: { successor: SUCCESSOR, message: `This product id is kept for existing keys. Use ${SUCCESSOR}.` },
      },
    }),
  ],
});
