import { Alert, Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { put } from '../../api/request';
import { isSameList, isSameRules } from './key-changes';
import { formatCount } from '../../format/numbers';
import { joinRules, splitRules } from './rule-text';
import { toast } from '../../browser/toast';
import { useSubmit } from '../../hooks/use-submit';
import { useVersioned } from '../../hooks/use-versioned';
import { ConflictNotice } from './conflict-notice';
import { RuleWarnings } from './rule-warnings';
import { RuleSimulator } from './rule-simulator';
import { SaveProblem } from './save-problem';

/** The rules of a key as text, with a simulator that tries them before they are saved. */
export function RulesEditor({ item }: { readonly item: Key }): ReactNode {
  const client = useQueryClient();
  const [saved, setSaved] = useState(item.rules);
  const [text, setText] = useState(() => joinRules(item.rules));
  const rules = splitRules(text);
  const isDirty = !isSameList(rules, saved);
  const reset = (to: Key): void => {
    setSaved(to.rules);
    setText(joinRules(to.rules));
  };
  const versioned = useVersioned({ item, isDirty, isSame: isSameRules, onReset: reset });
  const { submit, pending, problem } = useSubmit(async () => {
    try {
      await put(`/keys/${item.id}/rules`, { version: versioned.base.version, rules });
      setSaved(rules);
      toast('Rules saved. Gateway nodes are being updated.');
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  });
  const isRevoked = item.state === 'revoked';
  return (
    <Stack gap="md">
      <ConflictNotice versioned={versioned} item={item} />
      <Textarea
        label="One rule per line"
        description="An IP address, a CIDR range, a domain or *.domain (matched against the Origin or Referer header)"
        placeholder={'203.0.113.0/24\n*.example.com'}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        readOnly={isRevoked}
        autosize
        minRows={5}
        maxRows={16}
        spellCheck={false}
        classNames={{ input: 'mono' }}
      />
      <RuleCount count={rules.length} />
      <RuleWarnings rules={rules} />
      <SaveProblem problem={problem} isStale={versioned.isStale} />
      {!isRevoked && (
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={!isDirty || pending} onClick={versioned.takeTheirs}>
            Discard changes
          </Button>
          <Button loading={pending} disabled={!isDirty || versioned.isStale} onClick={() => void submit()}>
            Save rules
          </Button>
        </Group>
      )}
      <RuleSimulator id={item.id} rules={rules} isDraft={isDirty} state={item.expired ? 'expired' : item.state} />
    </Stack>
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
