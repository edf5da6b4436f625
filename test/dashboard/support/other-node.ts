import { type Clock } from '../../../plugins/core/ports';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { servePaymentEvents } from '../../../services/dashboard/billing/payment-events';
import { startPayments } from '../../../services/dashboard/billing/start-payments';
import { type DashboardDeps } from '../../../services/dashboard/http/dashboard-deps';
import { createLog } from '../../../services/kit/log';
import { type PaymentPorts } from '../../../services/selling/billing/payments-of';
import { watchCatalogue } from '../../../services/selling/catalogue/watch-catalogue';
import fastify from 'fastify';

/** Another dashboard on the same database, by connections of its own, as far as it takes events of payment providers and acts on them. */
export function startOtherNode({ databaseUrl, ports, clock }: { databaseUrl: string; ports: PaymentPorts; clock: Clock }) {
  const db = createPool(databaseUrl, { max: 5, statementTimeoutMs: 60_000 });
  const tools = { db, log: createLog('dashboard', { level: 'silent' }), clock, catalogue: watchCatalogue(db) };
  const payments = startPayments({ ...tools, ports, everyMs: 600_000 });
  const app = fastify();
  servePaymentEvents(app, { ...tools, payments } as unknown as DashboardDeps);
  return {
    app,
    /** Once it has acted on what it heard. */
    settled: () => payments.settled(),
    async close() {
      await payments.close();
      await app.close();
      await db.end();
    },
  };
}
