import { Group, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { brandName } from '../browser/brand';

interface PageTitleProps {
  readonly title: string;
  /** One sentence below it. */
  readonly children?: ReactNode;
  /** Buttons at its right. */
  readonly actions?: ReactNode;
}

/** Set once the first page is shown, because only a change of page moves the focus. */
let hasArrived = false;

/** The page's heading. It names the tab, and takes the focus after a change of page so that a screen reader announces the page. */
export function PageTitle({ title, children, actions }: PageTitleProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${brandName}`;
  }, [title]);
  useEffect(() => {
    if (hasArrived) heading.current?.focus({ preventScroll: true });
    hasArrived = true;
  }, []);
  return (
    <Group justify="space-between" align="flex-start" gap="sm" mb="lg" wrap="wrap">
      <Stack gap={2} miw={0} flex="1 1 16rem">
        <Title order={1} ref={heading} tabIndex={-1} className="page-heading breakable">
          <bdi>{title}</bdi>
        </Title>
        {children !== undefined && (
          <Text size="sm" c="dimmed" maw="46rem">
            {children}
          </Text>
        )}
      </Stack>
      {actions !== undefined && <Group gap="xs">{actions}</Group>}
    </Group>
  );
}
