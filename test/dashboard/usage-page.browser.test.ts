import { PageStage } from './support/page-stage';

const stage = PageStage.forFile();
const BARS = '.recharts-bar-rectangle path';

describe('usage by hour', () => {
  it('is a switch away, stands in the address, and has a bar only where there were requests', async () => {
    await stage.open('/usage');
    await stage.page.getByText('Hours', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests let in' }).waitFor();
    expect(new URL(stage.page.url()).searchParams.get('hours')).toBe('24');
    await stage.page.getByLabel('Period').selectOption('48');
    await stage.page.getByText('Hours are shown in').waitFor();
    const chart = stage.page.getByRole('region', { name: 'Requests let in' });
    await chart.getByText('Requests let in as a table').click();
    // Of 48 hours 36 had requests, for two products each.
    expect(await chart.getByRole('row').count()).toBe(1 + 2 * 36);
    expect(await chart.locator(BARS).count()).toBe(2 * 36);
    expect(await chart.getByRole('row').nth(1).innerText()).toMatch(/\d\d:30.*UTC/);
    expect(await stage.page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toContain('by=hour');
  });

  it('tells what products answered and how long it took, and what nobody measured', async () => {
    await stage.open('/usage?hours=48');
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText('Half of the answers took 100 ms or less, 95% 1 s or less.').waitFor();
    await chart.getByText('Answers as a table').click();
    // Of two products one is not measured.
    expect(await chart.getByRole('row').count()).toBe(1 + 36);
    expect(await chart.getByRole('row').nth(1).getByRole('cell', { name: '1 s', exact: true }).count()).toBe(1);
    await stage.goto(stage.keyPath());
    await stage.page.getByRole('region', { name: 'Answers' }).getByText('Answers as a table').click();
    expect(await stage.page.getByRole('region', { name: 'Answers' }).getByRole('cell', { name: '–', exact: true }).count()).toBeGreaterThan(
      0,
    );
  });

  it('tells the same by day', async () => {
    await stage.open('/usage?days=30');
    const chart = stage.page.getByRole('region', { name: 'Answers' });
    await chart.getByText(/^Half of the answers took/).waitFor();
    await chart.getByText('Answers as a table').click();
    expect(await chart.getByRole('row').count()).toBe(1 + 30);
    expect(await chart.getByRole('row').nth(1).getByRole('cell', { name: '1 s', exact: true }).count()).toBe(1);
  });

  it('goes back to days, which keep their own lengths', async () => {
    await stage.open('/usage?hours=48');
    await stage.page.getByText('Days', { exact: true }).click();
    await stage.page.getByRole('heading', { name: 'Requests used' }).waitFor();
    expect(await stage.page.getByLabel('Period').inputValue()).toBe('30');
  });

  it('says so where nothing was asked', async () => {
    await stage.begin();
    await stage.dashboard.pool.query('DELETE FROM key_hour WHERE credential_id = ANY($1)', [stage.account.keys]);
    await stage.goto('/usage?hours=24');
    await stage.page.getByText('No requests were let in in the last 24 hours.').waitFor();
  });

  it('of a key is a switch on its chart, with or without requests', async () => {
    await stage.begin();
    for (const place of [0, 1]) {
      await stage.goto(stage.keyPath(place));
      await stage.page.getByText('Hours', { exact: true }).click();
      await stage.page.getByRole('heading', { name: 'Requests of the last 48 hours' }).waitFor();
    }
    await stage.page.getByText('No requests with this key in the last 48 hours.').waitFor();
  });
});
