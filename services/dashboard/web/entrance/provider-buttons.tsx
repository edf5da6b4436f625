import { Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { installationQuery } from '../parts/api/who-queries';
import { knowsPasskeys } from '../parts/api/passkey';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSubmit } from '../parts/hooks/use-submit';

interface ProviderButtonsProps {
  readonly then: string | undefined;
  /** A further way to sign in, where there are passkeys. */
  readonly passkey?: ReactNode;
}

/** Ways to sign in beside the password, if there are any. The frame of the page has loaded them already. */
export function ProviderButtons({ then, passkey }: ProviderButtonsProps): ReactNode {
  const { data } = useQuery(installationQuery);
  const { submit, pending, problem } = useSubmit(async (id: string) => {
    const { url } = await call('POST /auth/sign-in/social', { body: { provider: id, then } });
    window.location.assign(url);
  });
  const hasPasskey = passkey !== undefined && data?.hasPasskeys === true && knowsPasskeys();
  if (!data || (data.providers.length === 0 && !hasPasskey)) return null;
  return (
    <>
      <Divider label="or" />
      {hasPasskey && passkey}
      {data.providers.map(({ id, name }) => (
        <Button key={id} variant="default" fullWidth disabled={pending} onClick={() => void submit(id)}>
          Continue with {name}
        </Button>
      ))}
      <ProblemAlert problem={problem} />
    </>
  );
}
