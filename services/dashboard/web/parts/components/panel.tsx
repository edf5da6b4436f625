import { Group, Title } from '@mantine/core';
import { type ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  /** At the right of the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A titled part of a page. */
export function Panel({ title, aside, children }: PanelProps): ReactNode {
  return (
    <section className="panel" aria-label={title}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2}>{title}</Title>
        {aside !== undefined && <div className="aside">{aside}</div>}
      </Group>
      {children}
    </section>
  );
}
