import { type FastifyInstance } from 'fastify';
import { lookSoon } from '../../selling/billing/checkouts';
import { keepFacts } from '../../selling/billing/payment-facts';
import { ServiceError } from '../../kit/errors';
import { type DashboardDeps } from '../http/dashboard-deps';
import { Refusal } from '../http/refusal';
import { EventRefused, ProviderAway } from '../../selling/billing/payment-port';

/** Where providers send their events. A signature counts here, not a cookie. */
export const EVENTS_PREFIX = '/api/payments/';

/** Far more than an event has. */
const BODY_LIMIT_BYTES = 1_048_576;

/** Adds the endpoint for the events of each provider. An event is stored, acknowledged, and only then acted upon. */
export function servePaymentEvents(app: FastifyInstance, { db, clock, log, payments }: DashboardDeps): void {
  if (!payments) return;
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The bytes as they were signed.
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, parsed) => parsed(null, body));
    for (const port of Object.values(payments.ports)) {
      if (!port) continue;
      scope.post(`${EVENTS_PREFIX}${port.name}/events`, async ({ body, headers }, reply) => {
        if (!Buffer.isBuffer(body)) throw new ServiceError('invalid_request');
        try {
          const { facts, checkout } = await port.readEvent(body, headers, clock.now());
          await keepFacts(db, port.name, facts);
          if (checkout) await lookSoon(db, { id: checkout, provider: port.name });
          if (facts.length > 0 || checkout !== undefined) payments.poke();
        } catch (error) {
          // The provider then sends the event again.
          if (error instanceof ProviderAway) throw new Refusal('payment_away');
          if (!(error instanceof EventRefused)) throw error;
          log.warn({ err: error, provider: port.name }, 'an event of a payment provider was refused');
          throw new Refusal('event_refused');
        }
        return reply.code(204).send();
      });
    }
    done();
  });
}
