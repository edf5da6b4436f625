import { Text } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Product } from '../../../contract/plans';
import { openedText, opensLess, opensNothing } from '../../../reference/live-routes';
import { Moment } from '../../parts/components/moment';
import { openedOf } from './offers';

/** The kinds of keys that a product serves, if it can be called. */
export function LiveState({ product }: { readonly product: Product }): ReactNode {
  const opened = openedOf(product);
  // An API of the seller's own reports no source.
  if (product.liveSource === null || opened === undefined) return null;
  const since = <Moment at={product.liveSource.since} />;
  if (!opensLess(opened)) {
    return (
      <Text size="xs" c="dimmed">
        Live and test keys, since {since}
      </Text>
    );
  }
  return (
    <Text size="xs" fw={600}>
      {opened.isThere ? 'An index only' : opensNothing(opened) ? 'Test keys only' : 'Test keys, live keys in part'}, since {since}.{' '}
      {openedText(opened)}
    </Text>
  );
}
