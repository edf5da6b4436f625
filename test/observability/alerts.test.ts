import { readAlerts, readPanels } from './support/metric-names';

const alerts = readAlerts();

describe('the alert rules', () => {
  it('have names of their own, a severity and a sentence', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, labels, annotations } of alerts) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect([alert, annotations.summary]).toEqual([alert, expect.stringMatching(/\.$/)]);
    }
  });

  it('each tell operators what to do', () => {
    for (const { alert, annotations } of alerts) {
      expect([alert, annotations.description]).toEqual([alert, expect.stringMatching(/^.{20,}[.?]$/)]);
    }
  });

  it('close every bracket that they open', () => {
    for (const { alert, expr } of alerts) {
      const count = (character: string): number => expr.split(character).length - 1;
      expect([alert, count('('), count('{'), count('"') % 2]).toEqual([alert, count(')'), count('}'), 0]);
    }
  });
});

describe('the dashboard', () => {
  it('has panels with ids of their own, and something to show in each', () => {
    const panels = readPanels();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { title, targets } of panels) if (targets) expect([title, targets.length > 0]).toEqual([title, true]);
  });
});
