import { Alert, Button, Group, Text, TextInput, Title } from '@mantine/core';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { type Simulation } from '../../../contract/keys';
import { call } from '../../parts/api/request';
import { useSubmit } from '../../parts/hooks/use-submit';
import { ProblemAlert } from '../../parts/components/problem-alert';

interface RuleSimulatorProps {
  readonly id: string;
  /** As they stand in the editor, saved or not. */
  readonly rules: readonly string[];
  readonly isDraft: boolean;
  /** The answer depends on it. */
  readonly state: string;
}

/** Checks whether a caller would be allowed, and by which rule. */
export function RuleSimulator({ id, rules, isDraft, state }: RuleSimulatorProps): ReactNode {
  const [address, setAddress] = useState('');
  const [origin, setOrigin] = useState('');
  const [answer, setAnswer] = useState<Simulation & { readonly question: string }>();
  const question = JSON.stringify([rules, address, origin, state]);
  const { submit, pending, problem } = useSubmit(async () => {
    setAnswer(undefined);
    const body = { rules, ...(address.trim() && { address: address.trim() }), ...(origin.trim() && { origin: origin.trim() }) };
    setAnswer({ ...(await call('POST /keys/:id/simulate', { params: { id }, body })), question });
  });
  function ask(event: FormEvent): void {
    event.preventDefault();
    void submit();
  }
  return (
    <form onSubmit={ask} noValidate className="subsection">
      <Title order={3} mb={4}>
        Test a caller
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        Would the {isDraft ? 'unsaved rules' : 'rules'} above allow this caller?
      </Text>
      <Group gap="xs" align="flex-end">
        <TextInput
          label="IP address"
          placeholder="203.0.113.7"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          maxLength={45}
          flex="1 1 9rem"
        />
        <TextInput
          label="Origin"
          placeholder="https://app.example.com"
          value={origin}
          onChange={(event) => setOrigin(event.currentTarget.value)}
          flex="1 1 11rem"
        />
        <Button type="submit" variant="default" loading={pending} disabled={address.trim() === '' && origin.trim() === ''}>
          Test
        </Button>
      </Group>
      <div aria-live="polite" className="simulation">
        <ProblemAlert problem={problem} />
        {/* An answer to an earlier question is not shown. */}
        {answer?.question === question && <Verdict answer={answer} />}
      </div>
    </form>
  );
}

function Verdict({ answer }: { readonly answer: Simulation }): ReactNode {
  const Icon = answer.admitted ? IconCircleCheck : IconCircleX;
  return (
    <Alert color={answer.admitted ? 'green' : 'red'} icon={<Icon size={18} aria-hidden />} title={answer.admitted ? 'Allowed' : 'Refused'}>
      {answer.reason}
      {answer.rule !== null && (
        <>
          {' '}
          Rule: <span className="mono">{answer.rule}</span>
        </>
      )}
    </Alert>
  );
}
