import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ACCESS_LAYER } from '../../../plugins/access-layer/plugin';
import { ensurePackages } from '../../support/debian-packages';
import { newFolder } from '../../support/run-folder';

const LANE = resolve(__dirname, '../../../kong/lane');
const files = readdirSync(LANE);
const name = files.find((file) => file.endsWith('.rockspec')) ?? '';
const modules = files.filter((file) => file.endsWith('.lua'));

beforeAll(() => ensurePackages(['luarocks'], 'The tests of the lane’s rockspec'));

it('the rockspec has the plugin’s version, and each file of the lane as the module that Kong loads', () => {
  const text = readFileSync(join(LANE, name), 'utf8');
  expect(name).toBe(`kong-plugin-tollgate-${ACCESS_LAYER.Version}-1.rockspec`);
  const listed = [...text.matchAll(/\['(kong\.plugins\.tollgate\.\w+)'\] = '(\w+\.lua)'/g)].map(([, module, file]) => [module, file]);
  expect(listed).toEqual(modules.map((file) => [`kong.plugins.tollgate.${basename(file, '.lua')}`, file]));
});

it('luarocks make puts the plugin where Kong finds it', () => {
  const tree = newFolder();
  const { status, stderr } = spawnSync('luarocks', ['make', '--tree', tree, '--deps-mode', 'none', name], { cwd: LANE, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const [version = ''] = readdirSync(join(tree, 'share/lua'));
  expect(readdirSync(join(tree, 'share/lua', version, 'kong/plugins/tollgate')).sort()).toEqual(modules);
});
