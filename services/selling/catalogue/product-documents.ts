import { type Database } from '../../../plugins/stores/postgres/database';

/** OpenAPI documents as they were read, by product. */
export type ProductDocuments = ReadonlyMap<string, unknown>;

const UPSERT = `
INSERT INTO product_document AS old (product_id, document)
SELECT id, document FROM jsonb_to_recordset($1) AS row(id text, document jsonb)
ON CONFLICT (product_id) DO UPDATE SET document = excluded.document WHERE old.document IS DISTINCT FROM excluded.document`;

const DELETE = 'DELETE FROM product_document WHERE product_id <> ALL ($1)';

const RAISE_REVISION = 'UPDATE catalogue_revision SET revision = revision + 1';

/** Keeps exactly these. Runs in the transaction of the catalogue that names them. */
export async function writeProductDocuments(db: Database, documents: ProductDocuments): Promise<void> {
  const rows = [...documents].map(([id, document]) => ({ id, document }));
  const written = [await db.query(UPSERT, [JSON.stringify(rows)]), await db.query(DELETE, [[...documents.keys()]])];
  if (written.some(({ rowCount }) => (rowCount ?? 0) > 0)) await db.query(RAISE_REVISION);
}

export async function readProductDocuments(db: Database): Promise<ProductDocuments> {
  const { rows } = await db.query<{ id: string; document: unknown }>('SELECT product_id AS id, document FROM product_document');
  return new Map(rows.map(({ id, document }) => [id, document]));
}
