import { Button, Group, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { type Paging } from '../hooks/use-paged';

interface PagerProps {
  readonly paging: Paging;
  /** Cursor of the next page; null on the last, undefined while unknown. */
  readonly next: string | null | undefined;
  /** Shown at the left, for example how many there are. */
  readonly summary?: string;
}

/** The buttons below a list that the server pages. Nothing when there is only one page. */
export function Pager({ paging, next, summary }: PagerProps): ReactNode {
  const isOnlyPage = paging.back === 'none' && typeof next !== 'string';
  if (isOnlyPage && summary === undefined) return null;
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="sm" c="dimmed" aria-live="polite">
        {summary}
      </Text>
      {!isOnlyPage && (
        <Group gap="xs" component="nav" aria-label="Pages">
          <Button
            variant="default"
            size="xs"
            disabled={paging.back === 'none'}
            onClick={paging.previous}
            leftSection={<IconChevronLeft size={14} aria-hidden />}
          >
            {paging.back === 'first' ? 'First page' : 'Previous'}
          </Button>
          <Text size="sm">Page {paging.number}</Text>
          <Button
            variant="default"
            size="xs"
            disabled={typeof next !== 'string'}
            onClick={() => typeof next === 'string' && paging.next(next)}
            rightSection={<IconChevronRight size={14} aria-hidden />}
          >
            Next
          </Button>
        </Group>
      )}
    </Group>
  );
}
