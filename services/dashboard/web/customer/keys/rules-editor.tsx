import { Alert, Stack, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { call } from '../../parts/api/request';
import { isSameList, isSameRules } from './key-changes';
import { formatCount } from '../../parts/format/numbers';
import { joinRules, splitRules } from './rule-text';
import { toast } from '../../parts/browser/toast';
import { useSubmit } from '../../parts/hooks/use-submit';
import { useUnsaved } from '../../parts/hooks/use-unsaved';
import { useVersioned } from '../../parts/hooks/use-versioned';
import { ConflictNotice } from './conflict-notice';
import { RuleWarnings } from './rule-warnings';
import { RuleSimulator } from './rule-simulator';
import { SaveButtons } from './save-buttons';
import { SaveProblem } from './save-problem';

/** The rules of a key as text, with a simulator that tries them before they are saved. */
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
