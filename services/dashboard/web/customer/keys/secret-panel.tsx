import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCircleCheck, IconLoader } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type CreatedKey } from '../../../contract/keys';
import { keyQuery, productsQuery } from '../../parts/api/queries';
import { firstCall, firstRequest } from './first-call';
import { useSession } from '../../parts/hooks/use-session';
import { CodeLine } from '../../parts/components/code-line';
import { Moment } from '../../parts/components/moment';
import { RunHere } from './run-here';
import { OnceOnly } from '../../parts/components/once-only';

interface SecretPanelProps {
  readonly created: CreatedKey;
  readonly onClose: () => void;
}

/** Shows a new key, once, with a call that is ready to run. The secret lives in this component's props and nowhere else. */
export function SecretPanel({ created, onClose }: SecretPanelProps): ReactNode {
  const { gatewayUrl } = useSession();
  const { data } = useQuery(productsQuery);
  const [isCopied, { open: noteCopy }] = useDisclosure(false);
  const products = data?.products.filter((product) => created.key.products.includes(product.id)) ?? [];
  const request = firstRequest(products, data?.first ?? null);
  const command = firstCall(created.secret, request, gatewayUrl);
  return (
    <Stack gap="md" onCopy={noteCopy}>
      <OnceOnly isCopied={isCopied}>This key is shown only once. Copy it to where your program keeps its secrets.</OnceOnly>
      <CodeLine label="Key" text={created.secret} what="key" onCopied={noteCopy} />
      {command !== undefined && <CodeLine label="First call" text={command} what="command" onCopied={noteCopy} />}
      {request && created.key.mode === 'test' && <RunHere secret={created.secret} request={request} />}
      {command !== undefined && <FirstCallWatch id={created.key.id} />}
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied it</Button>
      </Group>
    </Stack>
  );
}

/** Says when the key has been used for the first time. */
function FirstCallWatch({ id }: { readonly id: string }): ReactNode {
  const { data } = useQuery({ ...keyQuery(id), refetchInterval: ({ state }) => (state.data?.lastUsedAt ? false : 2_000) });
  const usedAt = data?.lastUsedAt ?? null;
  return (
    <Group gap={8} wrap="nowrap" role="status">
      {usedAt === null ? (
        <IconLoader size={18} aria-hidden className="dimmed" />
      ) : (
        <IconCircleCheck size={18} aria-hidden color="var(--mantine-color-green-light-color)" />
      )}
      <Text size="sm" c={usedAt === null ? 'dimmed' : 'inherit'}>
        {usedAt === null ? (
          'Run the call in a terminal; it shows up here within seconds.'
        ) : (
          <>
            The key works: first used <Moment at={usedAt} />.
          </>
        )}
      </Text>
    </Group>
  );
}
