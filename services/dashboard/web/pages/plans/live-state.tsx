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
  return (
    <Text size="xs" c={source.isThere ? 'dimmed' : undefined} fw={source.isThere ? undefined : 600}>
      {source.isThere ? 'Live and test keys' : 'Test keys only'}, since <Moment at={source.since} />
    </Text>
  );
}
