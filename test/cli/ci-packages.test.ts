import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEBIAN_PACKAGES } from '../support/debian-packages';

it('CI installs every Debian package that a test uses', () => {
  const script = readFileSync(join(__dirname, '../../.ci/run'), 'utf8');
  const installed = Object.fromEntries([...script.matchAll(/^ {2}\[(\S+)\]=(\S+)$/gm)].map(([, wanted = '', name]) => [wanted, name]));
  expect(installed).toEqual(DEBIAN_PACKAGES);
});
