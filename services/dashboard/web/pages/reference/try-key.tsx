import { Text, TextInput } from '@mantine/core';
import { type ReactNode } from 'react';
import { type ListedProduct } from './operations';
import { type TryMemory } from './use-try-memory';

/** Why a key cannot be used here; undefined for one that can, and for none. */
export function checkKey(key: string): string | undefined {
  if (key.startsWith('tg_live_')) return 'This is a live key. Live keys are never entered into a page.';
  return key === '' || /^tg_test_[0-9A-Za-z]+$/.test(key) ? undefined : 'A test key begins with tg_test_.';
}

interface TryKeyProps {
  readonly product: ListedProduct;
  readonly memory: TryMemory;
  readonly error: string | undefined;
}

/** The key for a try: one of the customer's, or the one that the dashboard keeps for this. */
export function TryKey({ product, memory, error }: TryKeyProps): ReactNode {
  return (
    <div>
      <TextInput
        label="Test key"
        placeholder="Optional: tg_test_…"
        value={memory.key}
        onChange={(event) => memory.typeKey(event.currentTarget.value.trim())}
        error={error}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        classNames={{ input: 'mono' }}
      />
      <Text size="xs" c="dimmed" mt={6}>
        Leave it empty to use a test key that is kept for this page. It subscribes you to {product.title} on the base limits if you are not
        subscribed yet.
      </Text>
    </div>
  );
}
