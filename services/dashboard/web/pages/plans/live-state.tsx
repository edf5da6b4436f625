import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type LiveSource } from '../../../contract/plans';
import { Moment } from '../../components/moment';

/** Which keys get answers from a product that can be called. */
export function LiveState({ source }: { readonly source: LiveSource | null }): ReactNode {
  if (source === null) {
    return (
      <Text size="xs" c="dimmed">
        Live keys: not known whether they are served
      </Text>
    );
  }
  if (source.isThere) {
    return (
      <Text size="xs" c="dimmed">
        Live and test keys, since <Moment at={source.since} />
      </Text>
    );
  }
  return (
    <Text size="xs" fw={600}>
      Test keys only, since <Moment at={source.since} />
    </Text>
  );
}
