import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type LiveSource } from '../../../contract/plans';
import { Moment } from '../../parts/components/moment';

/** Keys that a product serves, if it can be called. */
export function LiveState({
  source,
  liveRoutes,
}: {
  readonly source: LiveSource | null;
  /** What answers live keys without the source. */
  readonly liveRoutes: readonly string[];
}): ReactNode {
  // An API of the seller's own reports no source.
  if (source === null) return null;
  if (source.isThere) {
    return (
      <Text size="xs" c="dimmed">
        Live and test keys, since <Moment at={source.since} />
      </Text>
    );
  }
  return (
    <Text size="xs" fw={600}>
      {liveRoutes.length === 0 ? 'Test keys only' : `Test keys; live keys for ${liveRoutes.join(', ')} only`}, since{' '}
      <Moment at={source.since} />
    </Text>
  );
}
