import { Alert, Stack, Text, Textarea, Button, Group, TextInput, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import type { Key, Simulation } from '../../../contract/keys';
import { call } from '../../parts/api/request';
import { formatCount } from '../../parts/format/numbers';
import { joinRules, splitRules } from './rule-text';
import { toast } from '../../parts/browser/toast';
import { useSubmit } from '../../parts/hooks/use-submit';
import { useUnsaved } from '../../parts/components/unsaved-guard';
import { ConflictNotice, SaveButtons, SaveProblem, isSameList, isSameRules, useVersioned } from './saving';
import { RuleWarnings } from './rule-warnings';
import { ProblemAlert } from '../../parts/components/problem-alert';

/** The rules of a key as text, with a simulator to try them before they are saved. */
export function RulesEditor({ item }: { readonly item: Key }): ReactNode {
  const client = useQueryClient();
  const [saved, setSaved] = useState(item.rules);
  const [text, setText] = useState(() => joinRules(item.rules));
  const rules = splitRules(text);
  const isDirty = !isSameList(rules, saved);
  useUnsaved(isDirty && item.state !== 'revoked');
  const reset = (to: Key): void => {
    setSaved(to.rules);
    setText(joinRules(to.rules));
  };
  const versioned = useVersioned({ item, isDirty, isSame: isSameRules, onReset: reset });
  const { submit, pending, problem } = useSubmit(async () => {
    try {
      await call('PUT /keys/:id/rules', { params: { id: item.id }, body: { version: versioned.base.version, rules } });
      setSaved(rules);
      toast('Rules saved. Gateway nodes are being updated.');
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  });
  function save(event: FormEvent): void {
    event.preventDefault();
    void submit();
  }
  return (
    <Stack gap="md">
      <ConflictNotice versioned={versioned} item={item} />
      <form onSubmit={save}>
        <Stack gap="md">
          <RulesField text={text} onChange={setText} isFixed={item.state === 'revoked'} />
          <RuleCount count={rules.length} />
          <RuleWarnings rules={rules} />
          <SaveProblem problem={problem} isStale={versioned.isStale} />
          {item.state !== 'revoked' && (
            <SaveButtons
              action="Save rules"
              isDirty={isDirty}
              isStale={versioned.isStale}
              pending={pending}
              onDiscard={versioned.takeTheirs}
            />
          )}
        </Stack>
      </form>
      <RuleSimulator id={item.id} rules={rules} isDraft={isDirty} state={item.expired ? 'expired' : item.state} />
    </Stack>
  );
}

interface RulesFieldProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly isFixed: boolean;
}

function RulesField({ text, onChange, isFixed }: RulesFieldProps): ReactNode {
  return (
    <Textarea
      label="One rule per line"
      description="An IP address, a CIDR range, a domain or *.domain (matched against the Origin or Referer header)"
      placeholder={'203.0.113.0/24\n*.example.com'}
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      readOnly={isFixed}
      autosize
      minRows={5}
      maxRows={16}
      spellCheck={false}
      classNames={{ input: 'mono' }}
    />
  );
}

function RuleCount({ count }: { readonly count: number }): ReactNode {
  if (count === 0) {
    return (
      <Alert color="gray" py="xs">
        No rules: anyone who has the key is allowed.
      </Alert>
    );
  }
  return (
    <Text size="sm" c="dimmed">
      {formatCount(count)} {count === 1 ? 'rule' : 'rules'}; a caller must match at least one.
    </Text>
  );
}

interface RuleSimulatorProps {
  readonly id: string;
  /** The rules in the editor, saved or not. */
  readonly rules: readonly string[];
  readonly isDraft: boolean;
  /** State of the key, on which the result depends. */
  readonly state: string;
}

/** Checks whether a caller would be allowed, and which rule decides. */
function RuleSimulator({ id, rules, isDraft, state }: RuleSimulatorProps): ReactNode {
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
        {/* The response to an earlier question is not shown. */}
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
