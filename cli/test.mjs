// `npm test`, `npm run test:performance` and `npm run test:all`: set up what the tests need and run them. The first argument says which;
// the others go to jest (`npm test -- test/core --watch`).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, fail, root } from './bootstrap.mjs';
import { ensureRedis } from './bootstrap/redis.mjs';
import { chooseSample, readCommit } from './test-sample.mjs';

/** What jest is told, after the caller's own arguments: a list takes every argument behind it. */
const SELECTIONS = {
  sampled: ['--ignoreProjects', 'performance'],
  performance: ['--selectProjects', 'performance'],
  all: [],
};

const [, , scope, ...forJest] = process.argv;
if (!(scope in SELECTIONS)) fail(`test.mjs runs ${Object.keys(SELECTIONS).join(', ')}; not ${scope}`);
await bootstrap();
try {
  ensureRedis();
  process.env.TEST_SAMPLE = scope === 'sampled' ? chooseSample(process.env.TEST_SAMPLE, readCommit(root)) : 'all';
} catch (error) {
  fail(error);
}
const sample = process.env.TEST_SAMPLE;
if (sample !== 'all')
  console.error(`tollgate: taking sample ${sample} of 3 (CONTRIBUTING.md says of what); TEST_SAMPLE=${sample} repeats it`);
// Tests make much and keep little: more room for what is new spares time. No least size: a thread with little memory would have none left.
// What measures memory has the room of production.
const forNode = scope === 'sampled' ? ['--max-semi-space-size=64'] : [];
const jest = spawn(process.execPath, [...forNode, join(root, 'node_modules', 'jest', 'bin', 'jest.js'), ...forJest, ...SELECTIONS[scope]], {
  cwd: root,
  stdio: 'inherit',
});
// jest shares our terminal and gets Ctrl-C itself; a SIGTERM reaches only us and is passed on, so that its teardown runs.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => jest.kill('SIGTERM'));
jest.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
