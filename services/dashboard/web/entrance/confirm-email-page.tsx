import { Button, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { call } from '../parts/api/request';
import { forgetPerson } from '../parts/api/query-client';
import { brandName } from '../parts/browser/brand';
import { PageTitle } from '../parts/components/page-title';
import { ProblemAlert } from '../parts/components/problem-alert';
import { useSubmit } from '../parts/hooks/use-submit';

const DONE = {
  waiting: { title: 'Confirmed', text: 'Now open the link in the mail to the other address. Until then nothing changes.' },
  changed: { title: 'Email address changed', text: 'Sign in with the new address from now on. All other sessions were signed out.' },
} as const;

/**
 * The page of the links that confirm a new address. A press of the button confirms, because programs that scan mail open links by
 * themselves. The token leaves the address at once, and stays in this entry of the tab's history for a reload.
 */
export function ConfirmEmailPage(): ReactNode {
  const kept = useLocation({ select: ({ state }) => state.linkToken });
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token') ?? kept ?? '');
  const [done, setDone] = useState<keyof typeof DONE>();
  const client = useQueryClient();
  useEffect(() => {
    const state: unknown = window.history.state;
    window.history.replaceState({ ...(state ?? {}), linkToken: token }, '', '/confirm-email');
  }, [token]);
  const { submit, pending, problem } = useSubmit(async () => {
    const { state } = await call('POST /account/email/confirm', { body: { token } });
    setDone(state);
    if (state === 'changed') forgetPerson(client);
  });
  if (done) {
    return (
      <>
        <PageTitle title={DONE[done].title}>{DONE[done].text}</PageTitle>
        {done === 'changed' && (
          <Text size="sm">
            <Link to="/" className="text-link">
              Go to the dashboard
            </Link>
          </Text>
        )}
      </>
    );
  }
  return (
    <>
      <PageTitle title="Confirm a new email address">
        Someone asked to change the email address of an account at {brandName}. If it was not you, close this page.
      </PageTitle>
      <Stack gap="sm">
        <ProblemAlert problem={problem} />
        <Button fullWidth loading={pending} onClick={() => void submit()}>
          Confirm
        </Button>
      </Stack>
    </>
  );
}
