import { type Brand, PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { type DocPages, readDocPages } from '../../../services/dashboard/storefront/doc-pages';
import { Shopfront } from '../support/shopfront';

/** As the seller saves it: see sellers-folder.test.ts. */
const saved: { brand: Brand; pages: DocPages; revision: string } = { brand: PLAIN_BRAND, pages: readDocPages(undefined), revision: '0' };
const shop = Shopfront.forFile(() => ({ folder: saved, webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>' } }));

function save(change: Partial<typeof saved>): void {
  Object.assign(saved, change, { revision: String(Number(saved.revision) + 1) });
}

const bodyOf = async (path: string): Promise<string> => (await shop.get(path)).body;

it('a brand that the seller saves is on pages, in the app, in files and in descriptions, without a restart', async () => {
  const paths = ['/', '/pricing', '/docs', '/keys', '/llms.txt', '/status.xml', '/openapi.json', '/gateway'];
  for (const path of paths) expect(await bodyOf(path)).not.toContain('Acme');
  expect((await shop.get('/brand/logo')).statusCode).toBe(404);
  save({ brand: { name: 'Acme', colour: '#0b6e4f', logo: { bytes: Buffer.from('<svg/>'), contentType: 'image/svg+xml' } } });
  for (const path of paths) expect([path, (await bodyOf(path)).includes('Acme')]).toEqual([path, true]);
  expect(await bodyOf('/brand/logo')).toBe('<svg/>');
  expect(await bodyOf('/brand.css')).toContain('--accent:#0b6e4f');
});

it('so is a guide, with the words of the installation in it, and a changelog with its feed', async () => {
  const page = (text: string): DocPages => ({
    docs: [{ slug: 'rain', title: 'Rain', summary: 'Rain.', text }],
    changelog: { text: '# Changes\n\n## 2026-11-20: Faster\n\nYes.\n', changedAt: new Date(0) },
  });
  for (const path of ['/docs/rain', '/changelog', '/changelog.xml']) expect((await shop.get(path)).statusCode).toBe(404);
  save({ pages: page('# Rain\n\nBy {{name}}.\n') });
  expect(await bodyOf('/docs/rain')).toContain(`By ${saved.brand.name}.`);
  expect(await bodyOf('/docs')).toContain('href="/docs/rain"');
  for (const path of ['/changelog', '/changelog.xml']) expect(await bodyOf(path)).toContain('Faster');
  save({ pages: page('# Rain\n\nHail.\n') });
  expect(await bodyOf('/docs/rain')).toContain('Hail.');
  save({ pages: { docs: [], changelog: undefined } });
  for (const path of ['/docs/rain', '/changelog', '/changelog.xml']) expect((await shop.get(path)).statusCode).toBe(404);
});
