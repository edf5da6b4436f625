import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { installationQuery } from '../../parts/api/who-queries';
import { Panel } from '../../parts/components/panel';
import { waysQuery } from '../../parts/hooks/use-has-password';
import { EmailPanel } from './email-panel';
import { PasskeysPanel } from './passkeys-panel';
import { PasswordForm } from './password-form';
import { ProvidersPanel } from './providers-panel';
import { SecondFactorPanel } from './second-factor-panel';
import { SessionList } from './session-list';
import { SetPassword } from './set-password';

interface WaysPanelsProps {
  readonly email: string;
  readonly hasSecondFactor: boolean;
  /** What came of connecting a provider, as the address says it. */
  readonly outcome: string | undefined;
}

/** How one signs in, and where one is signed in. */
export function WaysPanels({ email, hasSecondFactor, outcome }: WaysPanelsProps): ReactNode {
  const { data: ways } = useQuery(waysQuery);
  const { data: installation } = useQuery(installationQuery);
  return (
    <>
      <Panel title="Password">
        {ways?.hasPassword === false ? <SetPassword email={email} isByProvider={ways.connected.length > 0} /> : <PasswordForm />}
      </Panel>
      <EmailPanel email={email} />
      {ways && ways.connected.length + ways.offered.length > 0 && <ProvidersPanel ways={ways} outcome={outcome} />}
      {ways && installation?.hasPasskeys && <PasskeysPanel ways={ways} />}
      {installation?.hasPasskeys === false && (
        <Panel title="Passkeys">
          <Text size="sm" c="dimmed">
            Passkeys are not available at {window.location.origin}: browsers keep them for a host name over https, or for localhost. Ask the
            provider.
          </Text>
        </Panel>
      )}
      <SecondFactorPanel isOn={hasSecondFactor} />
      <Panel title="Sessions">
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            If you do not recognise a session, sign it out and change your password.
          </Text>
          <SessionList />
        </Stack>
      </Panel>
    </>
  );
}
