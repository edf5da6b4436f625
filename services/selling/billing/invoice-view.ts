import { type InvoiceContent } from './invoice';
import { type Database, isUuid } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { cursorAfter, numberBefore } from '../operations/page-cursor';

/** The state of an invoice. A credit note stays `issued`. */
export type InvoiceState = 'issued' | 'open' | 'overdue' | 'paid' | 'credited';

/** One line of a list. Amounts are in the currency's smallest unit. */
export interface InvoiceSummary {
  readonly id: string;
  readonly number: string;
  readonly kind: 'invoice' | 'credit_note';
  readonly customerId: string;
  /** The buyer as printed on the invoice. */
  readonly buyer: string;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly currency: string;
  readonly total: number;
  readonly issuedOn: string;
  readonly dueOn: string;
  readonly state: InvoiceState;
  /** `YYYY-MM-DD`; null while it is not paid. */
  readonly paidOn: string | null;
  readonly reference: string | null;
  /** The number of the other document, for a credited invoice and for its credit note. */
  readonly credit: string | null;
  /** The payment provider that confirmed the payment or refund; null for a closed statement's invoice. */
  readonly paidThrough: string | null;
}

export interface InvoiceView extends InvoiceSummary {
  readonly content: InvoiceContent;
  /** Reason of a credit note. */
  readonly reason: string;
}

/** $1: today in the quota time zone, which decides whether an invoice is overdue. */
const SUMMARY = `
SELECT i.id, i.number, i.kind, i.customer_id AS "customerId", i.content -> 'buyer' ->> 'name' AS buyer, to_char(i.month, 'YYYY-MM') AS month,
  i.currency, i.total::float8 AS total, i.content ->> 'issuedOn' AS "issuedOn", to_char(i.due_on, 'YYYY-MM-DD') AS "dueOn",
  CASE WHEN i.kind = 'credit_note' THEN 'issued' WHEN c.id IS NOT NULL THEN 'credited' WHEN p.invoice_id IS NOT NULL THEN 'paid'
    WHEN i.due_on < $1::date THEN 'overdue' ELSE 'open' END AS state,
  to_char(p.paid_on, 'YYYY-MM-DD') AS "paidOn", p.reference, COALESCE(c.number, o.number) AS credit,
  i.provider AS "paidThrough", i.place::text AS place`;
const WHOLE = `${SUMMARY}, i.content, i.reason`;
const FROM = `
FROM invoice i LEFT JOIN invoice_payment p ON p.invoice_id = i.id LEFT JOIN invoice c ON c.corrects = i.id AND c.payment IS NULL
  LEFT JOIN invoice o ON o.id = i.corrects`;

export interface InvoiceFilter {
  readonly customerId?: string | undefined;
  /** `YYYY-MM`. */
  readonly month?: string | undefined;
  readonly currency?: string | undefined;
  readonly state?: InvoiceState | undefined;
}

/**
 * Conditions that find a state's invoices without reading all of them. For `state = …` the planner would expect few rows in any state; with
 * CASE it expects many, and finds the newest through the index.
 */
const FOUND_BY: Readonly<Record<InvoiceState, string>> = {
  issued: "i.kind = 'credit_note'",
  credited: 'i.id IN (SELECT corrects FROM invoice WHERE corrects IS NOT NULL AND payment IS NULL)',
  paid: 'i.id IN (SELECT invoice_id FROM invoice_payment)',
  open: 'i.place IN (SELECT place FROM invoice_unpaid WHERE due_on >= $1::date)',
  overdue: 'i.place IN (SELECT place FROM invoice_unpaid WHERE due_on < $1::date)',
};

export interface InvoicesQuery extends InvoiceFilter {
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly today: string;
  readonly limit: number;
  readonly after?: string | undefined;
}

export interface InvoicePage<Invoice> {
  readonly invoices: readonly Invoice[];
  readonly next: string | undefined;
}

/** Invoices and credit notes, newest first. */
export function listInvoices(db: Database, query: InvoicesQuery): Promise<InvoicePage<InvoiceSummary>> {
  return findPage<InvoiceSummary>(db, SUMMARY, query);
}

/** The same with all their content, for files. */
export function listWholeInvoices(db: Database, query: InvoicesQuery): Promise<InvoicePage<InvoiceView>> {
  return findPage<InvoiceView>(db, WHOLE, query);
}

async function findPage<Invoice extends InvoiceSummary>(
  db: Database,
  columns: string,
  { today, limit, after, customerId, month, currency, state }: InvoicesQuery,
): Promise<InvoicePage<Invoice>> {
  const { rows } = await db.query<Invoice & { place: string }>(
    `SELECT * FROM (${columns}, i.place AS position ${FROM}
      WHERE ($2::uuid IS NULL OR i.customer_id = $2) AND ($3::date IS NULL OR i.month = $3) AND ($4::text IS NULL OR i.currency = $4)
        AND i.place < $6 AND ${state === undefined ? 'true' : FOUND_BY[state]}) AS found
    WHERE $5::text IS NULL OR CASE WHEN state = $5 THEN true ELSE false END ORDER BY position DESC LIMIT $7`,
    [
      today,
      customerId ?? null,
      month === undefined ? null : `${month}-01`,
      currency ?? null,
      state ?? null,
      numberBefore(after),
      limit + 1,
    ],
  );
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { invoices: shown, next: last && cursorAfter(last.place) };
}

/**
 * One invoice. Another customer's reads as unknown.
 * @param wanted customerId: undefined for the seller, who sees all
 * @throws OperationRefused `invoice_unknown`
 */
export async function requireInvoice(
  db: Database,
  { id, customerId, today }: { readonly id: string; readonly customerId?: string | undefined; readonly today: string },
): Promise<InvoiceView> {
  const { rows } = isUuid(id)
    ? await db.query<InvoiceView>(`${WHOLE} ${FROM} WHERE i.id = $2 AND ($3::uuid IS NULL OR i.customer_id = $3)`, [
        today,
        id,
        customerId ?? null,
      ])
    : { rows: [] };
  if (!rows[0]) throw new OperationRefused('invoice_unknown', 'there is no invoice with this id');
  return rows[0];
}

/** Sums of a month in a currency: whole numbers as text, because they may exceed what a number holds exactly. */
export interface InvoiceSums {
  readonly month: string;
  readonly currency: string;
  readonly invoices: number;
  readonly invoiced: string;
  readonly paid: string;
  readonly due: string;
  readonly overdue: string;
  readonly credited: string;
}

/**
 * Sums of invoices from closed statements; payments at a provider are added up by their charges. A customer's invoices are few. The sums of
 * all customers are kept as invoices come; a credit note, or a payment, moves the invoice to another state.
 */
const OF_CUSTOMER = `
SELECT i.month, i.currency, i.due_on, 1 AS invoices, i.total,
  CASE WHEN c.id IS NOT NULL THEN 'credited' WHEN p.invoice_id IS NOT NULL THEN 'paid' ELSE 'open' END AS state
FROM invoice i LEFT JOIN invoice_payment p ON p.invoice_id = i.id LEFT JOIN invoice c ON c.corrects = i.id
WHERE i.kind = 'invoice' AND i.payment IS NULL AND i.customer_id = $2`;
const OF_ALL = 'SELECT * FROM invoice_sum WHERE $2::uuid IS NULL AND invoices > 0';

const sumOf = (state: string): string => `COALESCE(sum(total) FILTER (WHERE ${state}), 0)::text`;
const sumsOf = (invoices: string): string => `
SELECT to_char(month, 'YYYY-MM') AS month, currency, sum(invoices)::integer AS invoices, ${sumOf("state <> 'credited'")} AS invoiced,
  ${sumOf("state = 'paid'")} AS paid, ${sumOf("state = 'open' AND due_on >= $1::date")} AS due,
  ${sumOf("state = 'open' AND due_on < $1::date")} AS overdue, ${sumOf("state = 'credited'")} AS credited
FROM (${invoices}) AS found WHERE month > $1::date - interval '2 years' GROUP BY found.month, currency ORDER BY found.month DESC, currency`;

/** Sums by month, newest first, of the last two years; of one customer, or of all. */
export async function sumInvoices(
  db: Database,
  { today, customerId }: { readonly today: string; readonly customerId?: string | undefined },
): Promise<InvoiceSums[]> {
  const text = sumsOf(customerId === undefined ? OF_ALL : OF_CUSTOMER);
  return (await db.query<InvoiceSums>(text, [today, customerId ?? null])).rows;
}

/** Whether a customer was ever invoiced. */
export async function hasInvoices(db: Database, customerId: string): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM invoice WHERE customer_id = $1 LIMIT 1', [customerId]);
  return rows.length > 0;
}
