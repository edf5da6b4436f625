import { Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { signInBy } from '../../api/account';
import { installationQuery } from '../../api/queries';
import { ProblemAlert } from '../../components/problem-alert';
import { useSubmit } from '../../hooks/use-submit';

/** Ways in beside the password, where the operator offers any. The frame of the page has asked for them already. */
export function ProviderButtons({ then }: { readonly then: string | undefined }): ReactNode {
  const { data } = useQuery(installationQuery);
  const { submit, pending, problem } = useSubmit(async (id: string) => {
    const { url } = await signInBy(id, then);
    window.location.assign(url);
  });
  if (!data || data.providers.length === 0) return null;
  return (
    <>
      <Divider label="or" />
      {data.providers.map(({ id, name }) => (
        <Button key={id} variant="default" fullWidth disabled={pending} onClick={() => void submit(id)}>
          Continue with {name}
        </Button>
      ))}
      <ProblemAlert problem={problem} />
    </>
  );
}
