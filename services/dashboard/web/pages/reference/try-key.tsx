import { Button, Group, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type CreatedKey } from '../../../contract/keys';
import { post } from '../../api/request';
import { type ListedProduct } from './operations';
import { uniqueId } from '../../browser/unique-id';
import { useSubmit } from '../../hooks/use-submit';
import { ProblemAlert } from '../../components/problem-alert';
import { type TryMemory } from './use-try-memory';

const LIFETIME_MS = 86_400_000;

/** Why a key cannot be used here; undefined for one that can. */
export function checkKey(key: string): string | undefined {
  if (key === '') return 'Enter a test key, or create one.';
  if (key.startsWith('tg_live_')) return 'This is a live key. Live keys are never entered into a page.';
  return /^tg_test_[0-9A-Za-z]+$/.test(key) ? undefined : 'A test key begins with tg_test_.';
}

interface TryKeyProps {
  readonly product: ListedProduct;
  readonly memory: TryMemory;
  readonly error: string | undefined;
}

/** The key for a try: typed, or made for this page and ended by itself a day later. */
export function TryKey({ product, memory, error }: TryKeyProps): ReactNode {
  const client = useQueryClient();
  const [submission] = useState(uniqueId);
  const { submit, pending, problem } = useSubmit(async () => {
    const expiresAt = new Date(Date.now() + LIFETIME_MS).toISOString();
    const body = { submission, mode: 'test', products: [product.id], name: 'API reference', expiresAt };
    memory.keepMade(product.id, (await post<CreatedKey>('/keys', body)).secret);
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'keys' || queryKey[0] === 'products' });
  });
  const isMade = memory.hasMade(product.id);
  return (
    <div>
      <Group gap="xs" align="flex-start">
        <TextInput
          label="Test key"
          placeholder="tg_test_…"
          value={memory.keyFor(product.id)}
          onChange={(event) => memory.typeKey(product.id, event.currentTarget.value.trim())}
          error={error}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          classNames={{ input: 'mono' }}
          flex="1 1 18rem"
        />
        {!isMade && (
          <Button variant="default" mt={25} loading={pending} onClick={() => void submit()}>
            Create a test key for this page
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed" mt={6} aria-live="polite">
        {isMade
          ? `Made for ${product.title}. It ends by itself in 24 hours; this page forgets it when you leave.`
          : `A key made here is for ${product.title} alone and ends after 24 hours. It subscribes you on the base limits if you are not yet.`}
      </Text>
      <ProblemAlert problem={problem} />
    </div>
  );
}
