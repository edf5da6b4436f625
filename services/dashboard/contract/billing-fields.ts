import { z } from 'zod';

/** Who bills customers, or takes their payments. `none`: nobody. */
export const PROVIDERS = ['none', 'invoice', 'stripe', 'razorpay', 'sandbox'] as const;

export const billingMonth = z.string().regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2027-03');
export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a code of ISO 4217 such as INR');
/** With the currency's decimals: `1178.82`. */
export const billingAmount = z.string();
/** An amount that a person types, with at most as many decimals as the currency has. */
export const givenAmount = z.string().regex(/^\d{1,12}(\.\d{1,4})?$/, 'must be an amount such as 499.00');
