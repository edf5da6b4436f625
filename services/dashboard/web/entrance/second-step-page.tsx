import { Button, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { forgetPerson } from '../parts/api/query-client';
import { useSubmit } from '../parts/hooks/use-submit';
import { openReturn } from '../parts/browser/open-return';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';
import { brandName } from '../parts/browser/brand';

const WAYS = {
  authenticator: {
    hint: `Enter the 6-digit code that your authenticator app shows for ${brandName}.`,
    label: 'Code',
    other: 'Use a recovery code instead',
    send: (code: string) => call('POST /auth/two-factor/verify-totp', { body: { code } }),
  },
  recovery: {
    hint: 'Enter one of the recovery codes you saved when you turned the second factor on. Each works once.',
    label: 'Recovery code',
    other: 'Use your authenticator app instead',
    send: (code: string) => call('POST /auth/two-factor/verify-backup-code', { body: { code } }),
  },
} as const;

/** The step after the password, for accounts with a second factor. */
export function SecondStepPage(): ReactNode {
  const { then } = useSearch({ from: '/entrance/second-step' });
  const { history } = useRouter();
  const client = useQueryClient();
  const [way, setWay] = useState<keyof typeof WAYS>('authenticator');
  const { hint, label, other, send } = WAYS[way];
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: (value) => (value.trim() === '' ? 'Enter the code.' : null) },
  });
  const { submit, pending, problem } = useSubmit(async ({ code }: typeof form.values) => {
    await send(code);
    forgetPerson(client);
    openReturn(history, then);
  });
  const change = (): void => {
    form.reset();
    setWay(way === 'recovery' ? 'authenticator' : 'recovery');
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <PageTitle title="Second step">{hint}</PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        <TextInput
          label={label}
          autoComplete="one-time-code"
          inputMode={way === 'recovery' ? 'text' : 'numeric'}
          maxLength={40}
          spellCheck={false}
          autoFocus
          classNames={{ input: 'mono' }}
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={pending} fullWidth mt={4}>
          Sign in
        </Button>
        <Text size="sm">
          <UnstyledButton className="text-link" fz="sm" onClick={change}>
            {other}
          </UnstyledButton>
        </Text>
        <Text size="sm">
          <Link to="/sign-in" search={{ then, reason: undefined }} className="text-link">
            Back to sign in
          </Link>
        </Text>
      </Stack>
    </form>
  );
}
