import { type ImportResult, KeyImport } from '../../../selling/keys/import-keys';
import { type LineWarning, readImportLines, readImportObject } from '../../../selling/keys/import-line';
import { type OperatorCaller } from '../../http/callers';
import { type Call } from '../../http/bind-endpoint';
import { type DashboardDeps } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';

/** Scopes for what an import may do besides storing keys. */
const MORE_SCOPES = ['customers:write', 'subscriptions:write'];

function requireScopes({ scopes }: OperatorCaller): void {
  const missing = scopes ? MORE_SCOPES.filter((scope) => !scopes.has(scope)) : [];
  if (missing.length === 0) return;
  const detail = `An import creates customers and subscriptions: this token needs the scopes ${MORE_SCOPES.join(' and ')} too.`;
  throw new Refusal('scope_missing', { detail, members: { scopes: missing } });
}

/**
 * Imports keys in one transaction, except refused ones.
 * @throws Refusal 403 `scope_missing`
 */
export async function importForOperator(
  { body, caller }: Call<'POST /operator/keys/import'>,
  { db, clock, timeZone }: DashboardDeps,
): Promise<ImportResult & { readonly warnings: readonly LineWarning[] }> {
  requireScopes(caller);
  const { products, plan, showsLastFour: shows, dryRun: isTrial } = body;
  const lines = body.keys.map((value, index) => readImportObject(index + 1, value));
  const { keys, refused, warnings } = readImportLines(lines, { products, plan, shows, nowMs: clock.now(), timeZone });
  const result = await new KeyImport(db, { actor: caller.actor, isTrial }).add(keys);
  return { ...result, refused: [...refused, ...result.refused].sort((a, b) => a.line - b.line), warnings };
}
