import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length), readFileSync(path, 'utf8')];
    }),
  );
}

test('the committed types are those of the proto', () => {
  const folder = mkdtempSync(join(tmpdir(), 'seo-types-'));
  try {
    const options = ['--longs=Number', '--enums=String', '--defaults', '--oneofs', '--grpcLib=@grpc/grpc-js', `--outDir=${folder}`];
    execFileSync(join(root, 'node_modules/.bin/proto-loader-gen-types'), [...options, 'protos/seo/v1/seo.proto'], { cwd: root });
    expect(contentsOf(join(root, 'services/workers/generated/seo'))).toEqual(contentsOf(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
