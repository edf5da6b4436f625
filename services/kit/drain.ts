import { type FastifyInstance } from 'fastify';

export interface Drain {
  /** True once the app has been asked to close. */
  isLeaving(): boolean;
}

/**
 * Lets requests finish when the app closes, then ends every connection. Node counts a connection that never sent a request as busy, so one
 * silent client would keep a server from closing for ever.
 * @param leave requests are still taken until it resolves. Each response then closes its connection, so that senders notice that this
 * replica is going. Closing a connection while a request is on its way would fail that request.
 */
export function drainOnClose(app: FastifyInstance, leave?: () => Promise<void>): Drain {
  let active = 0;
  let leaving = false;
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
  app.addHook('preClose', async () => {
    leaving = true;
    if (app.server.listening) await leave?.();
    draining = true;
    endWhenDone();
  });
  return { isLeaving: () => leaving };
}
