import { type Database } from '../../../plugins/stores/postgres/database';

/** OpenAPI documents as they were read, by product, with members in the order of their authors. */
export type ProductDocuments = ReadonlyMap<string, unknown>;

const UPSERT = `
INSERT INTO product_document AS old (product_id, document)
SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (product_id) DO UPDATE SET document = excluded.document WHERE old.document IS DISTINCT FROM excluded.document`;

const DELETE = 'DELETE FROM product_document WHERE product_id <> ALL ($1)';

const RAISE_REVISION = 'UPDATE catalogue_revision SET revision = revision + 1';

/** Stores exactly these documents. Runs in the transaction of the catalogue that names them. */
export async function writeProductDocuments(db: Database, documents: ProductDocuments): Promise<void> {
  const ids = [...documents.keys()];
  const texts = [...documents.values()].map((document) => JSON.stringify(document));
  const written = [await db.query(UPSERT, [ids, texts]), await db.query(DELETE, [ids])];
  if (written.some(({ rowCount }) => (rowCount ?? 0) > 0)) await db.query(RAISE_REVISION);
}

/** The same as JSON, for callers that have it parsed elsewhere: it may be many megabytes. */
export async function readDocumentTexts(db: Database): Promise<ReadonlyMap<string, string>> {
  const { rows } = await db.query<{ id: string; document: string }>('SELECT product_id AS id, document FROM product_document');
  return new Map(rows.map(({ id, document }) => [id, document]));
}

export async function readProductDocuments(db: Database): Promise<ProductDocuments> {
  return new Map([...(await readDocumentTexts(db))].map(([id, text]) => [id, JSON.parse(text) as unknown]));
}
