// `npm run test:kong`: the acceptance suite on a Kong in a container. KONG_IMAGE names the image (kong:3.9). Without a container engine or
// the image it runs nothing, says why in one line, and the exit code is 0.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from '../../../cli/bootstrap.mjs';

const PULL_LIMIT_MS = 120_000;

/** @returns {Promise<string | undefined>} why there is no Kong to test, or undefined */
async function findObstacle(image) {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  let client;
  try {
    client = await getContainerRuntimeClient();
  } catch (error) {
    return `no container engine can be reached (${error instanceof Error ? error.message : String(error)})`;
  }
  const name = ImageName.fromString(image);
  if (await client.image.exists(name)) return undefined;
  let timer;
  const late = new Promise((_done, fail) => (timer = setTimeout(() => fail(new Error('the download takes too long')), PULL_LIMIT_MS)));
  try {
    await Promise.race([client.image.pull(name), late]);
    return undefined;
  } catch (error) {
    return `the image ${image} is not here and cannot be pulled (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    clearTimeout(timer);
  }
}

await bootstrap();
// One container, which the teardown stops: no second one is needed to watch it.
process.env.TESTCONTAINERS_RYUK_DISABLED ??= 'true';
const obstacle = await findObstacle(process.env.KONG_IMAGE || 'kong:3.9');
if (obstacle) {
  console.error(`test:kong: not run: ${obstacle}`);
  process.exit(0);
}
const support = join(root, 'test', 'support', 'gateway');
const kong = ['--globalSetup', join(support, 'kong-setup.ts'), '--globalTeardown', join(support, 'kong-teardown.ts')];
const jest = spawn(
  process.execPath,
  [join(root, 'node_modules', 'jest', 'bin', 'jest.js'), 'test/acceptance', ...kong, ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => jest.kill('SIGTERM'));
jest.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
