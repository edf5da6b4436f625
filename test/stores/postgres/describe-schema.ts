import { type Database } from '../../../plugins/stores/postgres/database';

/** A table or function, and the statements that make it. Each statement starts on a new line. */
interface SchemaObject {
  readonly about: string | null;
  readonly text: string;
}

/** Names and kinds only: a name's own rights and its owner differ from one installation to the next. Extensions' objects are left out. */
const TABLES = `
SELECT obj_description(c.oid, 'pg_class') AS about, 'CREATE TABLE ' || c.oid::regclass || E' (\\n' || array_to_string(ARRAY(
    SELECT format('  %I %s', attname, format_type(atttypid, atttypmod))
      || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE WHEN attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE COALESCE(' DEFAULT ' || pg_get_expr(adbin, adrelid), '') END
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum
  ) || ARRAY(
    SELECT format('  CONSTRAINT %I %s', conname, pg_get_constraintdef(oid, true)) FROM pg_constraint
    WHERE conrelid = c.oid AND contype IN ('p', 'u', 'f', 'c', 'x') ORDER BY position(contype IN 'pufcx'), conname
  ), E',\\n') || E'\\n)' || COALESCE(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') || ';' || array_to_string(ARRAY(
    SELECT E'\\n' || pg_get_indexdef(indexrelid, 0, true) || ';' FROM pg_index
    WHERE indrelid = c.oid AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = c.oid)
    ORDER BY indexrelid::regclass::text
  ) || ARRAY(
    SELECT E'\\n' || pg_get_triggerdef(oid, true) || ';'
      || CASE WHEN tgenabled <> 'O' THEN format(E'\\nALTER TABLE %s DISABLE TRIGGER %I;', c.oid::regclass, tgname) ELSE '' END
    FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal ORDER BY tgname
  ), '') AS text
FROM pg_class c
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
ORDER BY relname`;

const FUNCTIONS = `
SELECT obj_description(p.oid, 'pg_proc') AS about, CASE prokind
    WHEN 'a' THEN format('CREATE AGGREGATE %s (SFUNC = %s, STYPE = %s)', p.oid::regprocedure, aggtransfn, format_type(aggtranstype, NULL))
    ELSE rtrim(pg_get_functiondef(p.oid), E'\\n')
  END || ';' || CASE WHEN EXISTS (
    SELECT FROM aclexplode(COALESCE(proacl, acldefault('f', proowner))) WHERE grantee = 0
  ) THEN '' ELSE format(E'\\nREVOKE ALL ON FUNCTION %s FROM PUBLIC;', p.oid::regprocedure) END AS text
FROM pg_proc p LEFT JOIN pg_aggregate ON aggfnoid = p.oid
WHERE pronamespace = 'public'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
ORDER BY p.oid::regprocedure::text`;

/** Maximum length of a line of prose. PostgreSQL's own text is left as it is. */
const WIDTH = 140;

function commentOf(about: string): string {
  const lines = ['--'];
  for (const word of about.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last.length + 1 + word.length > WIDTH) lines.push(`-- ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The whole schema as text: tables with their constraints, indexes and triggers, then functions, each under what it is for. Its order is stable;
 * that of pg_dump differs by version. Rights of roles are not part of it (cli/database-roles), except those of functions that only some may call.
 */
export async function describeSchema(db: Pick<Database, 'query'>): Promise<string> {
  const { rows: tables } = await db.query<SchemaObject>(TABLES);
  const { rows: functions } = await db.query<SchemaObject>(FUNCTIONS);
  return [...tables, ...functions].map(({ about, text }) => `${about === null ? '' : commentOf(about)}${text}\n`).join('\n');
}
