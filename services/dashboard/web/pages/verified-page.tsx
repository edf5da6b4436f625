import { Button, Stack } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { PageTitle } from '../components/page-title';

/** Where the link of the verification mail leads. */
export function VerifiedPage(): ReactNode {
  const { error } = useSearch({ from: '/entrance/verified' });
  const title = error === undefined ? 'Your address is confirmed' : 'This link does not work';
  const text =
    error === undefined
      ? 'The account is ready. Two more minutes and your first call is answered.'
      : 'It is too old, or was used already. Sign in, and a new mail can be sent.';
  return (
    <>
      <PageTitle title={title}>{text}</PageTitle>
      <Stack gap="sm">
        <Button component={Link} to="/" fullWidth>
          Go on
        </Button>
      </Stack>
    </>
  );
}
