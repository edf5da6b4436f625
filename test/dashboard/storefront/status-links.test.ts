import { createStatusLinks } from '../../../services/dashboard/storefront/status-links';

const id = '0d5f6a0e-6c0b-4a55-9d5e-6f3f1f0c9a11';
const url = 'https://shop.example.com';
const links = createStatusLinks({ secret: 'a secret of the installation', url });
const tokenIn = (link: string): string => new URL(link).searchParams.get('token') ?? '';

describe('a link in a mail about the status', () => {
  it('names its subscription, for its own kind alone', () => {
    const link = links.write('confirm', id);
    expect(link).toMatch(/^https:\/\/shop\.example\.com\/status-mail\/confirm\?token=/);
    expect(links.read('confirm', tokenIn(link))).toBe(id);
    expect(links.read('end', tokenIn(link))).toBeUndefined();
  });

  it('is nobody’s when it was made with another secret, changed or cut', () => {
    const token = tokenIn(links.write('end', id));
    const foreign = createStatusLinks({ secret: 'another', url });
    expect(foreign.read('end', token)).toBeUndefined();
    for (const wrong of [token.replace('0d5f', '0d5e'), token.slice(0, -1), `${token}A`, '', undefined, [token]]) {
      expect(links.read('end', wrong)).toBeUndefined();
    }
  });
});
