import { createHash } from 'node:crypto';
import { hashStartOf, KeyFilter } from '../../../plugins/stores/cache/key-filter';

const KEYS = 20_000;
const hash = (name: string): string => createHash('sha256').update(name).digest('hex');

function filled(): KeyFilter {
  const filter = new KeyFilter(KEYS);
  for (let index = 0; index < KEYS; index++) filter.add(hashStartOf(hash(`key ${index}`)));
  return filter;
}

describe('a filter of keys', () => {
  it('has every key that was added', () => {
    const filter = filled();
    let missed = 0;
    for (let index = 0; index < KEYS; index++) if (!filter.mayHave(hashStartOf(hash(`key ${index}`)))) missed += 1;
    expect(missed).toBe(0);
  });

  it('takes less than 0.6 % of other hashes for keys when it is full', () => {
    const filter = filled();
    let found = 0;
    for (let index = 0; index < KEYS; index++) if (filter.mayHave(hashStartOf(hash(`none ${index}`)))) found += 1;
    expect(found / KEYS).toBeLessThan(0.006);
  });

  it('counts a key once, and is full beyond what it was made for', () => {
    const filter = filled();
    filter.add(hashStartOf(hash('key 1')));
    expect(filter.size).toBeLessThanOrEqual(KEYS);
    expect(filter.size).toBeGreaterThan(KEYS * 0.99);
    for (let index = 0; index < KEYS * 0.05; index++) filter.add(hashStartOf(hash(`more ${index}`)));
    expect(filter.isFull).toBe(true);
  });

  it('takes 1.5 bytes a key', () => {
    expect(new KeyFilter(1_000_000).bytes).toBe(1_500_000);
  });
});
