import { Skeleton, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { type CreatedKey } from '../../../contract/keys';
import { type Product } from '../../../contract/plans';
import { call } from '../../parts/api/request';
import { uniqueId } from '../../parts/browser/unique-id';
import { Panel } from '../../parts/components/panel';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { SecretPanel } from '../keys/secret-panel';
import { firstMode } from './first-steps';

interface FirstKeyProps {
  readonly product: Product;
  /** The public page from which the reader came to sign up. */
  readonly from: string | undefined;
}

/** The first test key (or key) of a customer who has just confirmed an address. It is made without asking, and shown once. */
export function FirstKey({ product, from }: FirstKeyProps): ReactNode {
  const client = useQueryClient();
  const mode = firstMode(product);
  const hasBegun = useRef(false);
  const [created, setCreated] = useState<CreatedKey | 'closed'>();
  const { submit, pending, problem } = useSubmit(async () => {
    setCreated(await call('POST /keys', { body: { submission: uniqueId(), mode, products: [product.id], rules: [], name: 'First key' } }));
    void client.invalidateQueries();
  });
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    void submit();
  }, [submit]);
  if (created === 'closed') return <WayBack from={from} />;
  if (problem) return <ProblemAlert problem={problem} onRetry={() => void submit()} />;
  if (created === undefined) return pending ? <Skeleton height={220} /> : null;
  return (
    <Panel title={mode === 'test' ? 'Your test key' : 'Your key'}>
      <SecretPanel created={created} onClose={() => setCreated('closed')} />
      <WayBack from={from} />
    </Panel>
  );
}

/** It stays once the key is copied; before that, the reader should not leave. */
function WayBack({ from }: Pick<FirstKeyProps, 'from'>): ReactNode {
  if (from === undefined) return null;
  return (
    <Text size="sm" my="sm">
      <a href={from} className="text-link in-text">
        {from.startsWith('/plans?') ? 'Continue with the plan you chose' : 'Back to where you signed up'}
      </a>
    </Text>
  );
}
