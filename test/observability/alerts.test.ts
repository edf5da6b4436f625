import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../support/project-root';
import { readAlerts, readPanels } from './support/metric-names';

const alerts = readAlerts();

describe('the alert rules', () => {
  it('have names of their own, a severity, a sentence, and what operators do about it', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
    for (const { alert, labels, annotations } of alerts) {
      expect(['page', 'ticket']).toContain(labels.severity);
      const told = { summary: expect.stringMatching(/\.$/), description: expect.stringMatching(/^.{20,}[.?]$/) };
      expect([alert, annotations]).toEqual([alert, expect.objectContaining(told)]);
    }
  });

  it.each(alerts.map(({ alert, annotations }) => [alert, annotations.runbook ?? '']))(
    '%s leads to a page for platform engineers, at a heading that is there',
    (_alert, runbook) => {
      const [page = '', anchor] = runbook.split('#');
      expect(page).toMatch(/^docs\/operate\/[a-z-]+\.md$/);
      expect(existsSync(join(projectRoot, page))).toBe(true);
      const headings = readFileSync(join(projectRoot, page), 'utf8').matchAll(/^#+ (.+)$/gm);
      const anchors = [...headings].map(([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^a-z0-9 -]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors).toContain(anchor);
    },
  );

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
