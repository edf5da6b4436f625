import { Button, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { type InvitationOffer } from '../../../contract/team';

import { forgetPerson } from '../../parts/api/query-client';
import { call } from '../../parts/api/request';
import { findInvitation, forgetInvitation, keepInvitation } from '../../parts/browser/pending-invitation';
import { noteShownOrganisation } from '../../parts/browser/shown-organisation';
import { toast } from '../../parts/browser/toast';
import { Loaded } from '../../parts/components/loaded';
import { PageTitle } from '../../parts/components/page-title';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { useSubmit } from '../../parts/hooks/use-submit';
import { ROLE_MEANINGS, ROLE_NAMES } from '../../parts/format/role-words';
import { EmailText } from '../../parts/components/email-text';

/** The page of an invitation's link. The token leaves the address at once, and waits in this browser until the person has signed in. */
export function InvitationPage(): ReactNode {
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token') ?? findInvitation());
  useEffect(() => {
    if (token === undefined) return;
    keepInvitation(token);
    window.history.replaceState(window.history.state, '', '/invitation');
  }, [token]);
  return token === undefined ? <NoInvitation /> : <Offer token={token} />;
}

function NoInvitation(): ReactNode {
  return (
    <>
      <PageTitle title="This invitation does not work">It was accepted or revoked, or has expired. Ask for a new one.</PageTitle>
      <Link to="/" className="text-link">
        Go to your own pages
      </Link>
    </>
  );
}

function Offer({ token }: { readonly token: string }): ReactNode {
  const query = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call('POST /invitation', { body: { token } }),
    retry: false,
    staleTime: 0,
  });
  const isSpent = query.error instanceof Error && Reflect.get(query.error, 'code') === 'invitation_unknown';
  useEffect(() => {
    if (isSpent) forgetInvitation();
  }, [isSpent]);
  if (isSpent) return <NoInvitation />;
  return (
    <>
      {!query.data && <PageTitle title="Invitation" />}
      <Loaded query={query} height={200}>
        {(offer) => (
          <>
            <PageTitle title={`Join ${offer.organisation}`}>
              {offer.invitedBy ?? 'A former member'} invites{' '}
              <strong>
                <EmailText text={offer.email} />
              </strong>{' '}
              as {ROLE_NAMES[offer.role]}: {ROLE_MEANINGS[offer.role]}
            </PageTitle>
            <NextStep token={token} offer={offer} />
          </>
        )}
      </Loaded>
    </>
  );
}

function NextStep({ token, offer: { email, signedInAs } }: { readonly token: string; readonly offer: InvitationOffer }): ReactNode {
  if (signedInAs === null) return <SignInFirst email={email} />;
  return signedInAs === email ? <Accept token={token} /> : <OtherAccount email={email} signedInAs={signedInAs} />;
}

function Accept({ token }: { readonly token: string }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  async function goOn(): Promise<void> {
    forgetInvitation();
    noteShownOrganisation(undefined);
    forgetPerson(client);
    await navigate({ to: '/' });
  }
  const { submit, pending, problem } = useSubmit(async () => {
    await call('POST /invitation/accept', { body: { token } });
    toast('You are a member now.');
    await goOn();
  });
  return (
    <Stack gap="sm">
      <ProblemAlert problem={problem} />
      <Button onClick={() => void submit()} loading={pending} fullWidth>
        Accept
      </Button>
      <Button variant="default" onClick={() => void goOn()} fullWidth>
        Not now
      </Button>
    </Stack>
  );
}

function SignInFirst({ email }: { readonly email: string }): ReactNode {
  const then = '/invitation';
  return (
    <Stack gap="sm">
      <Text size="sm">To accept, use an account with this address.</Text>
      <Button renderRoot={(props) => <Link to="/sign-in" search={{ then, reason: undefined }} state={{ email }} {...props} />}>
        Sign in
      </Button>
      <Button variant="default" renderRoot={(props) => <Link to="/sign-up" search={{ then }} state={{ email }} {...props} />}>
        Create an account
      </Button>
    </Stack>
  );
}

function OtherAccount({ email, signedInAs }: { readonly email: string; readonly signedInAs: string }): ReactNode {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { submit, pending, problem } = useSubmit(async () => {
    await call('POST /auth/sign-out');
    noteShownOrganisation(undefined);
    forgetPerson(client);
    await navigate({ to: '/sign-in', search: { then: '/invitation', reason: undefined }, state: { email } });
  });
  return (
    <Stack gap="sm">
      <Text size="sm">
        You are signed in as <strong className="breakable">{signedInAs}</strong>. Only an account with the invited address can accept.
      </Text>
      <ProblemAlert problem={problem} />
      <Button onClick={() => void submit()} loading={pending} fullWidth className="wrapping">
        Sign out and use that address
      </Button>
    </Stack>
  );
}
