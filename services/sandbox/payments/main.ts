import { sendTo } from './deliver-events';
import { startPaymentsSandbox } from './start-payments-sandbox';

const need = (name: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is required`);
  return value;
};

/**
 * Process entry of `npm start`. Reads `PAYMENTS_SANDBOX_PORT`, `_SECRET` (keys of API and events), `_EVENTS_URL` (the events' destination)
 * and `_FILE` (its books); writes one JSON line on standard output when ready.
 */
async function main(): Promise<void> {
  const secret = need('PAYMENTS_SANDBOX_SECRET');
  const sandbox = await startPaymentsSandbox({
    port: Number(need('PAYMENTS_SANDBOX_PORT')),
    secretKey: `sk_test_${secret}`,
    webhookSecret: `whsec_${secret}`,
    send: sendTo(need('PAYMENTS_SANDBOX_EVENTS_URL')),
    file: need('PAYMENTS_SANDBOX_FILE'),
  });
  const stop = (): void => void sandbox.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port: sandbox.port })}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`the payments sandbox cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
