import { type Key } from '../../../services/dashboard/contract/keys';
import { type LoggedRequest } from '../../../services/dashboard/contract/requests';

const MINUTE_MS = 60_000;

const OUTCOMES = [
  { outcome: 'admitted', status: null, product: 'api-gst' },
  { outcome: 'admitted', status: null, product: 'api-ip' },
  { outcome: 'caller_not_whitelisted', status: 401, product: 'api-ip' },
  { outcome: 'admitted', status: null, product: 'api-ip' },
  { outcome: 'quota_daily_exceeded', status: 429, product: 'api-gst' },
  { outcome: 'product_not_authorised', status: 401, product: 'api-background-remover' },
] as const;

/** What a busy hour leaves: some requests given back, and one key of which a sample is listed. */
export function usualRequests(keys: readonly Key[]): LoggedRequest[] {
  return Array.from({ length: 18 }, (_, index): LoggedRequest => {
    const { outcome, status, product } = OUTCOMES[index % OUTCOMES.length] ?? OUTCOMES[0];
    const isAdmitted = outcome === 'admitted';
    const key = keys[index % 3];
    return {
      requestId: String(index).padStart(32, 'c0ffee'),
      at: new Date(Date.now() - (index * index + 1) * MINUTE_MS).toISOString(),
      key: key ? { id: key.id, name: key.name, masked: key.maskedKey } : null,
      product,
      outcome,
      status,
      givenBack: isAdmitted ? index % 4 === 3 : null,
      share: isAdmitted && index % 3 === 1 ? 0.05 : 1,
    };
  });
}
