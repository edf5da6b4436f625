import { Badge, Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { Dialog } from '../../parts/components/dialog';
import { useHasPassword } from '../../parts/hooks/use-has-password';
import { Panel } from '../../parts/components/panel';
import { PasswordStep } from '../../parts/components/second-factor/password-step';
import { SetUpSecondFactor, RecoveryCodes } from '../../parts/components/second-factor/set-up-second-factor';

type Act = 'on' | 'off' | 'codes';

interface SecondFactorPanelProps {
  readonly isOn: boolean;
  /** False for operators, who must keep it. */
  readonly mayTurnOff?: boolean;
}

/** Whether sign-in asks for a code of an authenticator, with the buttons to change that. */
export function SecondFactorPanel({ isOn: hasSecondFactor, mayTurnOff = true }: SecondFactorPanelProps): ReactNode {
  const [act, setAct] = useState<Act>();
  const hasPassword = useHasPassword();
  const close = (): void => setAct(undefined);
  return (
    <Panel title="Second factor" aside={<Badge color={hasSecondFactor ? 'green' : 'gray'}>{hasSecondFactor ? 'On' : 'Off'}</Badge>}>
      <Text size="sm" c="dimmed" mb="sm">
        {hasSecondFactor
          ? 'Signing in takes your password and a code from your authenticator app.'
          : !hasPassword
            ? 'A second factor goes with a password, and your account has none. Set one first; until then your sign-in provider decides what it asks for.'
            : 'With a second factor, a stolen password alone opens nothing: signing in also takes a code from an authenticator app.'}
      </Text>
      <Group justify="flex-end" gap="xs">
        {hasSecondFactor ? (
          <>
            <Button variant="default" onClick={() => setAct('codes')}>
              New recovery codes
            </Button>
            {mayTurnOff && (
              <Button variant="default" onClick={() => setAct('off')}>
                Turn off
              </Button>
            )}
          </>
        ) : (
          <Button disabled={!hasPassword} onClick={() => setAct('on')}>
            Turn on
          </Button>
        )}
      </Group>
      {act === 'on' && <TurnOn onClose={close} />}
      {act === 'off' && <TurnOff onClose={close} />}
      {act === 'codes' && <NewCodes onClose={close} />}
    </Panel>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

function TurnOn({ onClose }: DialogProps): ReactNode {
  const client = useQueryClient();
  const finish = async (): Promise<void> => {
    onClose();
    toast('Second factor turned on. All other sessions were signed out.');
    await client.invalidateQueries();
  };
  return (
    <Dialog title="Turn on the second factor" onClose={onClose} mayCloseLightly={false} hasCloseButton={false}>
      <SetUpSecondFactor onDone={() => void finish()} onCancel={onClose} />
    </Dialog>
  );
}

function TurnOff({ onClose }: DialogProps): ReactNode {
  const client = useQueryClient();
  const turnOff = async (password: string): Promise<void> => {
    await call('POST /auth/two-factor/disable', { body: { password } });
    onClose();
    toast('Second factor turned off.');
    await client.invalidateQueries();
  };
  return (
    <Dialog title="Turn off the second factor" onClose={onClose} mayCloseLightly>
      <PasswordStep action="Turn off" onPassword={turnOff} onCancel={onClose}>
        Your password alone will open this account again. The recovery codes stop working.
      </PasswordStep>
    </Dialog>
  );
}

function NewCodes({ onClose }: DialogProps): ReactNode {
  const [codes, setCodes] = useState<readonly string[]>();
  return (
    <Dialog title="New recovery codes" onClose={onClose} mayCloseLightly={!codes} hasCloseButton={!codes}>
      {codes ? (
        <RecoveryCodes codes={codes} onClose={onClose} />
      ) : (
        <PasswordStep
          action="Make new codes"
          onPassword={async (password) =>
            setCodes((await call('POST /auth/two-factor/generate-backup-codes', { body: { password } })).backupCodes)
          }
          onCancel={onClose}
        >
          The codes you have stop working; ten new ones take their place.
        </PasswordStep>
      )}
    </Dialog>
  );
}
