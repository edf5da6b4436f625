// `npm test` and its variants: sets up what the tests need in a bare clone and runs jest with the arguments (`npm test -- test/core
// --watch`).
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, fail, root } from './bootstrap.mjs';
import { ensureRedis } from './bootstrap/redis.mjs';

await bootstrap();
try {
  ensureRedis();
} catch (error) {
  fail(error);
}
const jest = spawn(process.execPath, [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
});
// jest shares our terminal and gets Ctrl-C itself. A SIGTERM reaches only this process, which passes it on so that jest's teardown runs.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => jest.kill('SIGTERM'));
jest.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
