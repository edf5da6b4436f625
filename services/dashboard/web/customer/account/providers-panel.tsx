import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Ways } from '../../../contract/sign-in';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { Moment } from '../../parts/components/moment';
import { Panel } from '../../parts/components/panel';
import { providerText } from '../../parts/components/provider-text';
import { PasswordStep } from '../../parts/components/second-factor/password-step';

interface ProvidersPanelProps {
  readonly ways: Ways;
  /** Result of connecting a provider, from the address. */
  readonly outcome: string | undefined;
}

type Act = { readonly kind: 'connect' | 'disconnect'; readonly id: string; readonly name: string };

/** Providers that open the account beside its password, and those that can be connected. */
export function ProvidersPanel({ ways: { hasPassword, connected, passkeys, offered }, outcome }: ProvidersPanelProps): ReactNode {
  const [act, setAct] = useState<Act>();
  const isLast = !hasPassword && connected.length + passkeys.length === 1;
  return (
    <Panel title="Sign-in providers">
      <Stack gap="sm">
        {outcome === 'connected' && <Alert role="status">Connected. From now on the provider opens this account.</Alert>}
        {outcome !== undefined && outcome !== 'connected' && (
          <Alert color="red" role="alert">
            {providerText(outcome)}
          </Alert>
        )}
        <Text size="sm" c="dimmed">
          A provider that you connect opens this account without its password.{' '}
          {isLast && connected.length > 0 && 'Set a password before you disconnect the only one.'}
        </Text>
        {connected.map(({ id, name, since }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Text size="sm">
              {name}
              <Text component="span" display="block" size="xs" c="dimmed">
                Connected <Moment at={since} />
              </Text>
            </Text>
            <Button
              size="compact-xs"
              variant="default"
              className="tappable"
              disabled={isLast}
              aria-label={`Disconnect ${name}`}
              onClick={() => setAct({ kind: 'disconnect', id, name })}
            >
              Disconnect
            </Button>
          </Group>
        ))}
        {offered.map(({ id, name }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Text size="sm">{name}</Text>
            <Button
              size="compact-xs"
              variant="default"
              className="tappable"
              aria-label={`Connect ${name}`}
              onClick={() => setAct({ kind: 'connect', id, name })}
            >
              Connect
            </Button>
          </Group>
        ))}
      </Stack>
      {act && <ActDialog act={act} onClose={() => setAct(undefined)} />}
    </Panel>
  );
}

function ActDialog({ act: { kind, id, name }, onClose }: { readonly act: Act; readonly onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const connect = async (password: string): Promise<void> =>
    window.location.assign((await call('POST /account/ways', { body: { provider: id, password } })).url);
  const disconnect = async (password: string): Promise<void> => {
    await call('DELETE /account/ways/:id', { params: { id }, body: { password } });
    onClose();
    toast(`${name} disconnected. All other sessions were signed out.`);
    await client.invalidateQueries();
  };
  return kind === 'connect' ? (
    <Dialog title={`Connect ${name}`} onClose={onClose} mayCloseLightly>
      <PasswordStep action="Continue" onPassword={connect} onCancel={onClose}>
        {name} will ask who you are. From then on, anyone who signs in there as you opens this account.
      </PasswordStep>
    </Dialog>
  ) : (
    <Dialog title={`Disconnect ${name}`} onClose={onClose} mayCloseLightly>
      <PasswordStep action="Disconnect" isDangerous onPassword={disconnect} onCancel={onClose}>
        {name} no longer opens this account. All your other sessions will be signed out.
      </PasswordStep>
    </Dialog>
  );
}
