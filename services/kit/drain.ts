import { type FastifyInstance } from 'fastify';

/**
 * Lets requests finish when the app closes, then ends every connection. Node counts a connection that never sent a request as busy,
 * so one silent client would keep a server from closing for ever.
 */
export function drainOnClose(app: FastifyInstance): void {
  let active = 0;
  let draining = false;
  const endWhenDone = (): void => {
    if (draining && active === 0) setImmediate(() => app.server.closeAllConnections());
  };
  app.addHook('onRequest', (_request, reply, done) => {
    active++;
    reply.raw.once('close', () => {
      active--;
      endWhenDone();
    });
    done();
  });
  app.addHook('preClose', (done) => {
    draining = true;
    endWhenDone();
    done();
  });
}
