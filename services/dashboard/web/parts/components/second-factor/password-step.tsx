import { PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode } from 'react';
import { FormButtons } from '../form-buttons';
import { ProblemAlert } from '../problem-alert';
import { useHasPassword } from '../../hooks/use-has-password';
import { useSubmit } from '../../hooks/use-submit';

interface PasswordStepProps {
  /** What is about to happen. */
  readonly children: ReactNode;
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Throws ApiProblem. */
  readonly onPassword: (password: string) => Promise<unknown>;
  readonly onCancel?: (() => void) | undefined;
}

/** Asks for the account's password before a change of the account. An account without one must have signed in just now. */
export function PasswordStep({ children, action, isDangerous = false, onPassword, onCancel }: PasswordStepProps): ReactNode {
  const hasPassword = useHasPassword();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { password: '' },
    validate: { password: (value) => (hasPassword && value === '' ? 'Enter your password.' : null) },
  });
  const { submit, pending, problem } = useSubmit(({ password }: typeof form.values) => onPassword(password));
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        {hasPassword && (
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            data-autofocus
            key={form.key('password')}
            {...form.getInputProps('password')}
          />
        )}
        <ProblemAlert problem={problem} />
        <FormButtons action={action} isDangerous={isDangerous} pending={pending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
