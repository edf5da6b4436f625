import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

test('the committed types are those of the proto', () => {
  const fresh = mkdtempSync(join(tmpdir(), 'tollgate-types-'));
  try {
    const options = ['--longs=Number', '--enums=String', '--defaults', '--oneofs', '--grpcLib=@grpc/grpc-js', `--outDir=${fresh}`];
    execFileSync(join(root, 'node_modules/.bin/proto-loader-gen-types'), [...options, 'protos/identity/v1/identity.proto'], { cwd: root });
    expect(filesIn(join(root, 'services/workers/generated/identity'))).toEqual(filesIn(fresh));
  } finally {
    rmSync(fresh, { recursive: true });
  }
});
