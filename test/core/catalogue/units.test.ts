import { unitsOf } from '../../../plugins/core/catalogue/units';

it.each([
  ['3', 3],
  ['0', 0],
  ['007', 7],
  ['9'.repeat(30), 100],
  ['9'.repeat(31), 5],
  [undefined, 5],
  ['', 5],
  ['-1', 5],
  ['1.5', 5],
  ['1e3', 5],
  ['2, 3', 5],
  [' 3', 5],
])('an answer that says %j, with 5 units taken and 100 at most, costs %i', (told, cost) => {
  expect(unitsOf(told, 5, 100)).toBe(cost);
});

it('an answer of a product that does not charge by answers costs what was taken', () => {
  expect(unitsOf('3', 5, undefined)).toBe(5);
});
