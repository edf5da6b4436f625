import { Badge } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';

const SHOWN = {
  active: { color: 'green', text: 'Active' },
  inactive: { color: 'yellow', text: 'Inactive' },
  expired: { color: 'orange', text: 'Expired' },
  revoked: { color: 'gray', text: 'Revoked' },
} as const;

/** State of a key in one word. A revoked key stays revoked when it expires, and a suspension by the seller comes first. */
export function KeyStateBadge({ item }: { readonly item: Pick<Key, 'state' | 'expired' | 'suspended'> }): ReactNode {
  if (item.suspended) return <Badge color="red">Suspended</Badge>;
  const { color, text } = SHOWN[item.expired && item.state !== 'revoked' ? 'expired' : item.state];
  return <Badge color={color}>{text}</Badge>;
}
