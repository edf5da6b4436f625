import { Button, Group, Text } from '@mantine/core';
import { IconCloudOff } from '@tabler/icons-react';
import { useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { isConnectionFailing, subscribeToConnection } from '../api/connection';
import { call } from '../api/request';

const RETRY_MS = 5_000;

/** Shown over the page's foot while the server gives no response. It retries by itself. */
export function ConnectionBanner(): ReactNode {
  const failing = useSyncExternalStore(subscribeToConnection, isConnectionFailing);
  useEffect(() => {
    if (!failing) return undefined;
    const timer = setInterval(() => void retry(), RETRY_MS);
    return () => clearInterval(timer);
  });

  async function retry(): Promise<void> {
    // A success is noted with the connection, and waiting queries load again.
    await call('GET /installation').catch(() => undefined);
  }

  if (!failing) return null;
  return (
    <Group role="status" className="connection-banner" gap="sm" wrap="nowrap">
      <IconCloudOff size={20} aria-hidden />
      <Text size="sm" flex={1}>
        The server is not responding. Retrying; what you typed is kept.
      </Text>
      <Button size="xs" variant="default" onClick={() => void retry()}>
        Retry now
      </Button>
    </Group>
  );
}
