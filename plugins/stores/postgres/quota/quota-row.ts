import { type UsageParts } from '../../quota/quota-parts';

/** Counts come as text: they are 64-bit in the database. Every figure is far below 2^53. */
export interface QuotaRow {
  readonly place: string;
  readonly day_redis: string;
  readonly day_postgres: string;
  readonly day_refunded: string;
  readonly month_redis: string;
  readonly month_postgres: string;
  readonly month_refunded: string;
}

export function readQuotaRow(row: QuotaRow): { ofDay: UsageParts; ofMonth: UsageParts } {
  return {
    ofDay: { redis: Number(row.day_redis), postgres: Number(row.day_postgres), refunded: Number(row.day_refunded) },
    ofMonth: { redis: Number(row.month_redis), postgres: Number(row.month_postgres), refunded: Number(row.month_refunded) },
  };
}

/** Rows by the place of their question, counted from 1 in the statement. */
export function inPlace<Row extends { place: string }, Out>(rows: readonly Row[], read: (row: Row) => Out): Out[] {
  const results: Out[] = [];
  for (const row of rows) results[Number(row.place) - 1] = read(row);
  return results;
}
