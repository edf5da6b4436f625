import { type Pool } from 'pg';
import { type BillingDetails, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { composeInvoices, type InvoiceContent } from './invoice';
import { enqueue } from '../outbox/outbox';
import { type Statement } from '../statements/statement';
import { inTransaction } from '../../../plugins/stores/postgres/database';

/** Statements per transaction: the series is locked that long, and a process that is killed loses little work. */
const BATCH = 200;

/** Sorts before every customer's id. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

interface Waiting {
  readonly customerId: string;
  /** `YYYY-MM`. */
  readonly month: string;
}

/** Statements after a position in the order, so that a batch does not look again at earlier ones. */
const WAITING = `
SELECT s.customer_id AS "customerId", to_char(s.month, 'YYYY-MM') AS month FROM statement s
WHERE (s.month, s.customer_id) > ($1::date, $2::uuid)
  AND NOT EXISTS (SELECT FROM statement_billed b WHERE b.customer_id = s.customer_id AND b.month = s.month)
ORDER BY s.month, s.customer_id LIMIT ${BATCH}`;

/** If two processes claim a statement, the second waits here, and finds it taken. */
const CLAIM = `
WITH claimed AS (
  INSERT INTO statement_billed (customer_id, month)
  SELECT id, (month || '-01')::date FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS wanted(id, month, place) ORDER BY place
  ON CONFLICT DO NOTHING RETURNING customer_id, month
)
SELECT s.customer_id AS "customerId", to_char(s.month, 'YYYY-MM') AS month, s.content, c.email,
  CASE WHEN d.customer_id IS NOT NULL THEN json_build_object('name', d.name, 'address', d.address, 'country', d.country, 'state', d.state,
    'taxId', d.tax_id, 'email', d.email) END AS details
FROM claimed JOIN statement s USING (customer_id, month) JOIN customer c ON c.id = s.customer_id
LEFT JOIN billing_details d ON d.customer_id = s.customer_id ORDER BY s.month, s.customer_id`;

interface Claimed {
  readonly customerId: string;
  readonly month: string;
  readonly content: Statement;
  readonly email: string;
  readonly details: BillingDetails | null;
}

const INSERT = `
INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content)
SELECT $1, 'invoice', customer_id, month, currency, total, due_on, content FROM jsonb_to_recordset($2)
  AS row(place integer, customer_id uuid, month date, currency text, total bigint, due_on date, content jsonb) ORDER BY place
RETURNING id`;

const REMIND = `
INSERT INTO outbox (kind, subject, detail)
SELECT 'invoice', invoice_id, 'overdue' FROM invoice_unpaid WHERE due_on < $1::date AND due_on > $1::date - 30
ON CONFLICT DO NOTHING`;

/** Mails customers one reminder for each overdue invoice. The seller follows up on those more than 30 days overdue. */
export async function queueReminders(db: Pool, today: string): Promise<void> {
  await db.query(REMIND, [today]);
}

export interface IssueOptions {
  readonly terms: InvoicingTerms;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly today: string;
  readonly titleOf: (product: string) => string;
  /** Asked between batches. */
  readonly isEnding?: () => boolean;
  /** Called for each statement that could not be invoiced. The next call tries it again. */
  readonly onFailure: (about: Unbilled, error: unknown) => void;
}

/** A statement, or a payment by its provider's id, without an invoice. */
export interface Unbilled extends Waiting {
  readonly payment?: string;
}

/**
 * Turns every closed statement since `terms.invoices.from` into invoices, once however many processes do so and however often one is
 * killed: a batch is one transaction. A statement that cannot be invoiced delays no other, and uses no number.
 * @returns how many invoices were issued
 */
export async function issueInvoices(db: Pool, options: IssueOptions): Promise<number> {
  const { terms, isEnding = () => false } = options;
  let after: Waiting = { month: terms.invoices.from, customerId: BEFORE_ALL };
  for (let issued = 0; ;) {
    if (isEnding()) return issued;
    const { rows } = await db.query<Waiting>(WAITING, [`${after.month}-01`, after.customerId]);
    issued += await issueBatch(db, rows, options);
    if (rows.length < BATCH) return issued;
    after = rows.at(-1) ?? after;
  }
}

function issueBatch(db: Pool, rows: readonly Waiting[], { terms, today, titleOf, onFailure }: IssueOptions): Promise<number> {
  return inTransaction(db, async (client) => {
    const { rows: claimed } = await client.query<Claimed>(CLAIM, [
      rows.map(({ customerId }) => customerId),
      rows.map(({ month }) => month),
    ]);
    const given: { customerId: string; content: InvoiceContent }[] = [];
    for (const { customerId, month, content, email, details } of claimed) {
      try {
        const facts = { terms, customer: email, details: details ?? undefined, issuedOn: today, titleOf };
        given.push(...composeInvoices(content, facts).map((invoice) => ({ customerId, content: invoice })));
      } catch (error) {
        onFailure({ customerId, month }, error);
        await client.query('DELETE FROM statement_billed WHERE customer_id = $1 AND month = $2', [customerId, `${month}-01`]);
      }
    }
    const invoices = given.map(({ customerId, content }, place) => ({
      place,
      customer_id: customerId,
      month: `${content.month}-01`,
      currency: content.currency,
      total: content.total,
      due_on: content.dueOn,
      content,
    }));
    if (invoices.length === 0) return 0;
    const { rows: made } = await client.query<{ id: string }>(INSERT, [terms.invoices.series, JSON.stringify(invoices)]);
    await enqueue(client, { kind: 'invoice', subjects: made.map(({ id }) => id), detail: 'issued' });
    return made.length;
  });
}
