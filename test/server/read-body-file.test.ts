import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadKongConf } from '../../kong/local/config/kong-conf';
import { parseConfig } from '../../plugins/access-layer/config';
import { readBodyFile } from '../../plugins/server/read-body-file';

describe('a body that Kong spooled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'body-file-'));
  const file = join(folder, '0000000001');
  writeFileSync(file, 'api_key=k');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read when it is not larger than what is searched', async () => {
    expect((await readBodyFile(file, 9))?.toString()).toBe('api_key=k');
    expect(await readBodyFile(file, 8)).toBeUndefined();
  });

  it('counts as larger when only Kong sees it', async () => expect(await readBodyFile(join(folder, 'elsewhere'), 9)).toBeUndefined());

  it('is larger than any form that the project searches for a key', () => {
    const { bodyBufferBytes } = loadKongConf(resolve(__dirname, '../../kong/kong.conf'));
    expect(bodyBufferBytes).toBeGreaterThanOrEqual(parseConfig({ products: ['api-ip'] }).formKeyMaxBytes);
  });

  it('is no form without a key when it cannot be read', () => expect(readBodyFile(folder, 1_000_000)).rejects.toThrow('EISDIR'));
});
