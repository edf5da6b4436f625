import { createAccessLayer } from '../../../plugins/access-layer/plugin';
import { type AccessLayerDeps } from '../../../plugins/access-layer/access-request';
import { type PluginModule } from '../../../plugins/core/access/kong-pdk';
import { type AccessInstance } from '../../../plugins/core/access/verdict';
import { type AccessRecord, type Decision } from '../../../plugins/core/ports';
import { recordOf, recordsOf, signContext } from '../../access-layer/call-plugin';
import { memoryQuota, NOW_MS } from '../../access-layer/fake-kong';

export interface StagedPlugin {
  readonly plugin: PluginModule<AccessInstance>;
  readonly decisions: Decision[];
  readonly logged: { level: string; message: string; fields: object }[];
  readonly log: Record<'error' | 'warn' | 'info', (fields: object, message: string) => void>;
}

/** The real access layer over stores in memory, for an entrance to ask. */
export function stagePlugin(record: AccessRecord = recordOf(), changed: Partial<AccessLayerDeps> = {}): StagedPlugin {
  const decisions: Decision[] = [];
  const logged: StagedPlugin['logged'] = [];
  const note = (level: string) => (fields: object, message: string) => void logged.push({ level, message, fields });
  const log = { error: note('error'), warn: note('warn'), info: note('info') };
  const plugin = createAccessLayer({
    records: recordsOf(record),
    quota: memoryQuota(),
    decisions: { record: (decision) => decisions.push(decision) },
    clock: { now: () => NOW_MS, monotonic: () => 0 },
    signContext,
    readBodyFile: () => Promise.reject(new Error('no file')),
    log,
    ...changed,
  });
  return { plugin, decisions, logged, log };
}
