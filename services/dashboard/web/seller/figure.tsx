import { Text } from '@mantine/core';
import { type ReactNode } from 'react';

/** Shown for an unknown figure. */
export const NOT_KNOWN = <span className="dimmed">not known</span>;

interface FigureProps {
  readonly name: string;
  readonly value: ReactNode;
  /** Stands below it. */
  readonly note?: ReactNode;
}

/** A figure with its name. */
export function Figure({ name, value, note }: FigureProps): ReactNode {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text className="numbers breakable" fw={600}>
        {value}
      </Text>
      {note !== undefined && note !== '' && note !== false && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}
