import { appendFileSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildProtoTypes, hasProtoTypes } from '../../cli/build-proto-types.mjs';
import { runFolder } from '../support/run-folder';

const ROOT = join(__dirname, '..', '..');

it('the types of the workers’ protos are made anew when a proto changes, and not otherwise', () => {
  const folder = mkdtempSync(join(runFolder(), 'tollgate-proto-types-'));
  cpSync(join(ROOT, 'protos'), join(folder, 'protos'), { recursive: true });
  expect(hasProtoTypes(folder)).toBe(false);
  buildProtoTypes(folder);
  expect(hasProtoTypes(folder)).toBe(true);
  const generated = join(folder, 'services', 'workers', 'generated');
  const kinds = readdirSync(join(folder, 'protos')).filter((kind) => existsSync(join(folder, 'protos', kind, 'v1', `${kind}.proto`)));
  expect(kinds.length).toBeGreaterThan(4);
  for (const kind of kinds) expect(readFileSync(join(generated, kind, `${kind}.ts`), 'utf8')).toContain('ProtoGrpcType');

  const stamp = join(generated, '.stamp');
  const { mtimeMs } = statSync(stamp);
  buildProtoTypes(folder);
  expect(statSync(stamp).mtimeMs).toBe(mtimeMs);

  appendFileSync(join(folder, 'protos', 'apk', 'v1', 'apk.proto'), '\nmessage Addition { string text = 1; }\n');
  expect(hasProtoTypes(folder)).toBe(false);
  buildProtoTypes(folder);
  expect(readFileSync(join(generated, 'apk', 'apk', 'v1', 'Addition.ts'), 'utf8')).toContain("'text'");
});
