import { Button, Group, Stack } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { type TryAnswer } from '../../../contract/try';
import { call } from '../../parts/api/request';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { Waiting } from '../../parts/components/waiting';
import { useSubmit } from '../../parts/hooks/use-submit';
import { type FirstRequest, queryOf } from './first-call';
import { TryResult } from './try-result';

/** The dashboard gives up after 60 s, and says so. */
const TRY_MS = 65_000;

/** Makes the sample call with a test key from here, as the command beside it does from a terminal. */
export function RunHere({ secret, request }: { readonly secret: string; readonly request: FirstRequest }): ReactNode {
  const [answer, setAnswer] = useState<TryAnswer>();
  const { submit, pending, problem } = useSubmit(async () =>
    setAnswer(await call('POST /try', { body: { ...request, key: secret, query: queryOf(request) }, timeoutMs: TRY_MS })),
  );
  return (
    <Stack gap="sm" align="stretch">
      <Group gap="sm">
        <Button variant="light" loading={pending} leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={() => void submit()}>
          Run it here
        </Button>
        {pending && <Waiting />}
      </Group>
      <ProblemAlert problem={problem} />
      {answer && <TryResult answer={answer} />}
    </Stack>
  );
}
