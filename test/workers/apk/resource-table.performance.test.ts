import { resolveValue, ResourceTable } from '../../../services/workers/apk/resources/resource-table';
import { VALUE } from '../../../services/workers/apk/resources/resources';
import { writeResourceTable } from '../../support/apk/apk-resource-table';

const FIRST = 0x7f010000;
/** Most that any analysis may take of a processor. */
const MAX_CPU_MS = 10_000;

it('a small resource table whose references lead to more configurations than an analysis may look at is refused in time', () => {
  const circle = { encoding: 'plain' as const, entries: { 0: FIRST + 1, 1: FIRST } };
  const table = new ResourceTable(writeResourceTable(Array<typeof circle>(1_000).fill(circle)));
  const all = (): void => {
    for (let reference = 0; reference < 60; reference++) resolveValue(table, { type: VALUE.reference, data: FIRST });
  };
  const before = process.cpuUsage();
  expect(all).toThrow(expect.objectContaining({ code: 'apk_too_complex' }));
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(MAX_CPU_MS);
});
