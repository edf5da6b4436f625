import { ascendingId } from '../../../services/selling/keys/ascending-id';

it('makes UUIDs that ascend, also 20,000 in a few milliseconds', () => {
  const ids = Array.from({ length: 20_000 }, ascendingId);
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
