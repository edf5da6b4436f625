import { emailsInPage } from '../../../services/workers/ranking/emails/emails-in-page';

test('a megabyte made to be slow is searched in time in proportion to its length', () => {
  const hostile = ['a', 'a.', 'a@', 'a@a.', `${'a'.repeat(64)}@`, 'a@aa.aa ', `${'a'.repeat(63)} `, '@'];
  const timeOf = (piece: string, length: number): number => {
    const page = { mailTargets: [], text: piece.repeat(Math.ceil(length / piece.length)) };
    const from = performance.now();
    emailsInPage(page, 'shop.com');
    return performance.now() - from;
  };
  for (const piece of hostile) {
    timeOf(piece, 10_000);
    // Quadratic would be a hundred times as long, and minutes.
    expect(timeOf(piece, 1_000_000)).toBeLessThan(Math.max(1, timeOf(piece, 100_000)) * 50 + 1_000);
  }
});
