import { useState, type ReactNode } from 'react';
import { type SecondFactorSetUp } from '../../../../contract/auth';
import { call } from '../../api/request';
import { PasswordStep } from './password-step';
import { RecoveryCodes } from './recovery-codes';
import { ScanStep } from './scan-step';

interface SetUpSecondFactorProps {
  /** The factor is on, and the codes were seen. */
  readonly onDone: () => void;
  /** Left out where there is no way around it. */
  readonly onCancel?: () => void;
}

/** Password, authenticator, recovery codes: the way to a second factor. Secret and codes live in this component's state and nowhere else. */
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
