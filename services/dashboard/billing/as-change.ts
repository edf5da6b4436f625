import { ChangeRefused, ProviderRefused } from '../../selling/billing/payment-port';

/**
 * What is to be changed exists, so a refusal is about the change.
 * @throws ChangeRefused
 */
export async function asChange<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof ProviderRefused ? new ChangeRefused(cause.message, { cause }) : cause;
  }
}
