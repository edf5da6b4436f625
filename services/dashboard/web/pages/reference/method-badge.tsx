import { Badge } from '@mantine/core';
import { type ReactNode } from 'react';

export function MethodBadge({ method }: { readonly method: 'GET' | 'POST' }): ReactNode {
  return (
    <Badge size="sm" color={method === 'GET' ? 'green' : 'indigo'} miw="2.75rem" flex="none">
      {method}
    </Badge>
  );
}
