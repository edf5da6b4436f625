/** A node of a plan, as EXPLAIN (ANALYZE, FORMAT JSON) tells it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/**
 * Rows that a plan's scans of tables and indexes read, those that they threw away included.
 * @param table of this one alone; of all of them unless given
 */
export function rowsRead(node: PlanNode, table?: string): number {
  const isScan = /^(Seq|Index|Index Only|Bitmap Heap|Bitmap Index) Scan$/.test(node['Node Type']);
  const isWanted = isScan && (table === undefined || node['Relation Name'] === table);
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isWanted ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return own + (node.Plans ?? []).reduce((sum, each) => sum + rowsRead(each, table), 0);
}
