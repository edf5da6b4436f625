import { type ReactNode, useEffect, useState } from 'react';
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconDownload } from '@tabler/icons-react';
import { QRCodeSVG } from 'qrcode.react';
import { type SecondFactorSetUp } from '../../../../contract/auth';
import { call } from '../../api/request';
import { PasswordStep } from './password-step';
import { CodeLine } from '../code-line';
import { FormButtons } from '../form-buttons';
import { OnceOnly } from '../once-only';
import { ProblemAlert } from '../problem-alert';
import { useSubmit } from '../../hooks/use-submit';
import classes from './second-factor.module.css';

interface SetUpSecondFactorProps {
  /** Called when the factor is on, and the codes were seen. */
  readonly onDone: () => void;
  /** Left out when the person must go through with it. */
  readonly onCancel?: () => void;
}

/** The steps to a second factor: password, authenticator, recovery codes. Secret and codes are only in this component's state. */
export function SetUpSecondFactor({ onDone, onCancel }: SetUpSecondFactorProps): ReactNode {
  const [setUp, setSetUp] = useState<SecondFactorSetUp>();
  const [isConfirmed, setConfirmed] = useState(false);
  if (!setUp) {
    return (
      <PasswordStep
        action="Continue"
        onPassword={async (password) => setSetUp(await call('POST /auth/two-factor/enable', { body: { password } }))}
        onCancel={onCancel}
      >
        From now on, signing in takes your password and a code from an authenticator app. All your other sessions will be signed out.
      </PasswordStep>
    );
  }
  if (isConfirmed) return <RecoveryCodes codes={setUp.backupCodes} onClose={onDone} />;
  return <ScanStep totpUri={setUp.totpURI} onConfirmed={() => setConfirmed(true)} onCancel={onCancel} />;
}

interface ScanStepProps {
  /** `otpauth:` address. */
  readonly totpUri: string;
  /** Called after a correct code: the factor is on. */
  readonly onConfirmed: () => void;
  readonly onCancel?: (() => void) | undefined;
}

/** The secret in groups of four, as people type it. */
function secretText(totpUri: string): string {
  const secret = new URL(totpUri).searchParams.get('secret') ?? '';
  return (secret.match(/.{1,4}/g) ?? []).join(' ');
}

/** Shows the secret to an authenticator, and asks for its first code. */
function ScanStep({ totpUri, onConfirmed, onCancel }: ScanStepProps): ReactNode {
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { code: '' },
    validate: { code: (value) => (/^\s*(\d\s*){6}$/.test(value) ? null : 'Enter the 6 digits that the app shows.') },
  });
  const { submit, pending, problem } = useSubmit(async ({ code }: typeof form.values) => {
    await call('POST /auth/two-factor/verify-totp', { body: { code } });
    onConfirmed();
  });
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="sm">
        <Text size="sm">Scan this with an authenticator app, or type the secret into it.</Text>
        <div className={classes['code']}>
          <QRCodeSVG
            value={totpUri}
            size={176}
            marginSize={2}
            bgColor="#ffffff"
            fgColor="#000000"
            title="QR code for your authenticator app"
          />
        </div>
        <CodeLine label="Secret" text={secretText(totpUri)} what="secret" />
        <TextInput
          label="Code from the app"
          autoComplete="one-time-code"
          inputMode="numeric"
          maxLength={12}
          classNames={{ input: 'mono' }}
          key={form.key('code')}
          {...form.getInputProps('code')}
        />
        <ProblemAlert problem={problem} />
        <FormButtons action="Confirm" pending={pending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows, once, the codes for a lost authenticator. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps): ReactNode {
  const [isKept, { open: noteKept }] = useDisclosure(false);
  const [isDone, setDone] = useState(false);
  const keep = (): void => {
    noteKept();
    setDone(true);
  };
  // Close only after the page knows that they are stored, because closing may lead to another page.
  useEffect(() => {
    if (isDone) onClose();
  }, [isDone, onClose]);
  const text = codes.join('\n');
  return (
    <Stack gap="md" onCopy={noteKept}>
      <OnceOnly isCopied={isKept}>
        These recovery codes are shown only once. Each signs you in once if you lose your authenticator; keep them where you keep passwords.
      </OnceOnly>
      <CodeLine label="Recovery codes" text={text} what="codes" onCopied={noteKept} />
      <Group justify="flex-end" gap="xs">
        <Button
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
          download="recovery-codes.txt"
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={noteKept}
        >
          Download
        </Button>
        <Button onClick={keep}>I have saved them</Button>
      </Group>
    </Stack>
  );
}
