import { linkKind } from '../../../services/dashboard/brand/link-target';
import { fc } from '../../support/fast-check';

it.each<[string, ReturnType<typeof linkKind>]>([
  ['/terms', 'place'],
  ['/terms?of=use#top', 'place'],
  ['#top', 'place'],
  ['https://example.com/terms', 'https'],
  ['HTTPS://example.com', 'https'],
  ['http://example.com', 'http'],
  ['mailto:help@example.com', 'mail'],
])('%j is a link', (target, kind) => {
  expect(linkKind(target)).toBe(kind);
});

it.each([
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  '\t//evil.example',
  ' //evil.example',
  'https:evil.example',
  'https:\\\\evil.example',
  'https://',
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'terms.html',
  '',
])('%j is no link of a page', (target) => {
  expect(linkKind(target)).toBeUndefined();
});

it('a place never leads to another site, whatever stands in it', () => {
  const part = fc.constantFrom('/', '\\', '\t', '\n', '\r', '@', ':', '.', '#', '?', '%2f', ' ', 'evil.example');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const target = parts.join('');
      if (linkKind(target) !== 'place') return;
      expect(new URL(target, 'https://shop.example/docs/a').host).toBe('shop.example');
    }),
  );
});
