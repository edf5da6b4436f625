import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync, appendFileSync, cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { satisfiesLock } from '../../cli/bootstrap/dependencies.mjs';
import { exclusively, takeLock } from '../../cli/bootstrap/exclusive.mjs';
import { nodeTooOld } from '../../cli/bootstrap/node-version.mjs';
import { findProgram } from '../../cli/bootstrap/redis.mjs';
import { eventually } from '../support/eventually';
import { newFolder } from '../support/run-folder';
import { buildProtoTypes, hasProtoTypes } from '../../cli/build-proto-types.mjs';

describe('the bootstrap', () => {
  const root = join(__dirname, '..', '..');
  let folder: string;

  beforeEach(() => {
    folder = newFolder();
  });

  describe('installing packages', () => {
    const locked = {
      '': { version: '0.1.0' },
      'node_modules/pg': { version: '8.0.0' },
      'node_modules/vite': { version: '8.0.0', dev: true },
      'node_modules/for-windows': { version: '1.0.0', optional: true },
    };
    const { 'node_modules/pg': pg, 'node_modules/vite': vite } = locked;
    const everything = { 'node_modules/pg': pg, 'node_modules/vite': vite };

    it.each<[string, Record<string, { version: string }> | undefined, boolean]>([
      ['when all packages but other platforms’ are there', everything, true],
      ['when nothing is installed', undefined, false],
      ['when a version differs', { ...everything, 'node_modules/pg': { version: '9.9.9' } }, false],
      ['when a version of a development package differs', { ...everything, 'node_modules/vite': { version: '9.9.9' } }, false],
      ['when a version of an optional package differs', { ...everything, 'node_modules/for-windows': { version: '9.9.9' } }, false],
      ['when a package is missing', { 'node_modules/vite': vite }, false],
      ['when a package that only builds is missing', { 'node_modules/pg': pg }, false],
    ])('%s is told by what the lock file says', (_when, installed, isSatisfied) => {
      expect(satisfiesLock(locked, installed)).toBe(isSatisfied);
    });

    it('is not needed for what is installed here', () => {
      const read = (file: string): Record<string, { version: string }> => JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
      expect(satisfiesLock(read('package-lock.json'), read('node_modules/.package-lock.json'))).toBe(true);
    });

    it('brings the packages that build, also where the environment asks for those of production alone', () => {
      const log = join(folder, 'npm-arguments');
      writeFileSync(join(folder, 'npm'), `#!/bin/sh\necho "$@" > ${log}\n`, { mode: 0o755 });
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: locked }));
      const module = pathToFileURL(join(root, 'cli', 'bootstrap', 'dependencies.mjs')).href;
      const program = `import { installDependencies } from ${JSON.stringify(module)}; installDependencies(${JSON.stringify(folder)});`;
      const env = { ...process.env, NODE_ENV: 'production', PATH: `${folder}:${process.env['PATH'] ?? ''}` };
      expect(spawnSync(process.execPath, ['--input-type=module', '-e', program], { env }).status).toBe(0);
      expect(readFileSync(log, 'utf8')).toMatch(/^ci --include=dev /);
    });
  });

  it('a Node.js version is new enough, or refused in one sentence', () => {
    for (const version of ['20.19.0', '20.20.2', '21.0.0', '22.1.0'])
      expect([version, nodeTooOld('>=20.19', version)]).toEqual([version, undefined]);
    for (const version of ['20.18.3', '18.20.0', '0.12.0'])
      expect(nodeTooOld('>=20.19', version)).toMatch(new RegExp(`^[^\\n]*20\\.19 or newer[^\\n]*${version}[^\\n]*$`));
  });

  describe('a lock', () => {
    const file = (): string => join(folder, 'some.lock');

    it('is held by one process until it is given back', () => {
      const first = takeLock(file());
      expect(takeLock(file())).toEqual({ heldBy: process.pid });
      if (!('release' in first)) throw new Error('the first taker did not get the lock');
      first.release();
      expect(takeLock(file())).toHaveProperty('release');
    });

    const { pid: dead } = spawnSync(process.execPath, ['-e', '']);

    it.each([
      ['of a process that died', JSON.stringify({ pid: dead, startedAt: '1' })],
      ...(existsSync('/proc/self/stat')
        ? [['of a process whose number another one has now', JSON.stringify({ pid: process.pid, startedAt: 'long ago' })]]
        : []),
      ['that was damaged', '{"pi'],
    ])('%s is taken over', (_whose, text = '') => {
      writeFileSync(file(), text);
      expect(takeLock(file())).toHaveProperty('release');
    });

    it('of a process that was killed and that nobody has collected is taken over', async () => {
      if (!existsSync('/proc/self/stat')) return;
      const module = pathToFileURL(join(root, 'cli', 'bootstrap', 'exclusive.mjs')).href;
      const holder = `import { takeLock } from ${JSON.stringify(module)}; takeLock(${JSON.stringify(file())}); setInterval(() => 0, 1e6);`;
      // The shell becomes a program that never waits for what was its child.
      const parent = spawn('/bin/sh', ['-c', '"$0" --input-type=module -e "$1" & exec sleep 60', process.execPath, holder]);
      try {
        await eventually(() => existsSync(file()));
        const { pid } = JSON.parse(readFileSync(file(), 'utf8')) as { pid: number };
        process.kill(pid, 'SIGKILL');
        await eventually(() => / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
        expect(takeLock(file())).toHaveProperty('release');
      } finally {
        parent.kill('SIGKILL');
      }
    });

    it('keeps the work of several processes apart', async () => {
      const module = pathToFileURL(join(root, 'cli', 'bootstrap', 'exclusive.mjs')).href;
      const log = join(folder, 'log');
      const program = `
      import { appendFileSync } from 'node:fs';
      import { exclusively } from ${JSON.stringify(module)};
      for (let round = 0; round < 5; round++) await exclusively(${JSON.stringify(file())}, async () => {
        appendFileSync(${JSON.stringify(log)}, 'in\\n');
        await new Promise((resolve) => setTimeout(resolve, 5));
        appendFileSync(${JSON.stringify(log)}, 'out\\n');
      });`;
      const runs = [0, 1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }));
      const codes = await Promise.all(runs.map(async (run) => (await once(run, 'exit'))[0]));
      expect(codes).toEqual([0, 0, 0]);
      expect(readFileSync(log, 'utf8')).toBe('in\nout\n'.repeat(15));
    });

    it('is given back when the work fails', async () => {
      await expect(exclusively(file(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
      expect(existsSync(file())).toBe(false);
    });
  });

  it('a program is found on the PATH only when it can be run', () => {
    const program = join(folder, 'redis-server');
    writeFileSync(program, '');
    chmodSync(program, 0o644);
    expect(findProgram('redis-server', `/nowhere:${folder}`)).toBeUndefined();
    chmodSync(program, 0o755);
    expect(findProgram('redis-server', `/nowhere:${folder}`)).toBe(program);
  });
});

describe('the types of protos', () => {
  const ROOT = join(__dirname, '..', '..');

  it('the types of the workers’ protos are made anew when a proto changes, and not otherwise', () => {
    const folder = newFolder();
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
});
