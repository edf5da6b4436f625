import { type CataloguePlan } from '../../../plugins/core/catalogue/catalogue';
import { enforcedLimits } from './overage';

/**
 * Columns daily, monthly and overage as in the catalogue, for a row of plan, plan_request or subscription_term. In the tables daily and
 * monthly are the refusing limits, which is all that gateways read.
 */
export const includedLimits = (row: string): string => `
COALESCE((${row}.overage ->> 'daily')::integer, ${row}.daily) AS daily,
COALESCE((${row}.overage ->> 'monthly')::integer, ${row}.monthly) AS monthly,
CASE WHEN ${row}.overage IS NOT NULL THEN jsonb_build_object('per', ${row}.overage -> 'per', 'price', ${row}.overage -> 'price',
  'cap', jsonb_build_object('daily', ${row}.daily, 'monthly', ${row}.monthly)) END AS overage`;

/** A plan as a row of the table. */
export function planRow({ overage, ...plan }: CataloguePlan): object {
  const { daily, monthly } = plan;
  const sold = overage && { per: overage.per, price: overage.price, daily, monthly };
  return { ...plan, ...enforcedLimits({ daily, monthly, overage }), overage: sold ?? null };
}

/**
 * Whether limits count units, which each response reports, or requests.
 * @param row of product; a missing row counts requests
 */
export const countsUnits = (row: string): string => `COALESCE(${row}.definition ? 'units', false)`;
