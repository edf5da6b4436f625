import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { type Key } from '../../../contract/keys';
import { describeChanges } from './key-changes';
import { type ApiProblem } from '../../parts/api/api-problem';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { formatMoment } from '../../parts/format/time';
import { type Versioned } from '../../parts/hooks/use-versioned';

interface ConflictNoticeProps {
  readonly versioned: Versioned<Key>;
  /** The server's present version. */
  readonly item: Key;
}

/** Shows what somebody else changed in the key meanwhile, and lets the reader keep either version. */
export function ConflictNotice({ versioned, item }: ConflictNoticeProps): ReactNode {
  if (!versioned.isStale) return null;
  const changes = describeChanges(versioned.base, item, (iso) => formatMoment(iso));
  return (
    <Alert color="yellow" role="alert" icon={<IconUsers size={18} aria-hidden />} title="This key was changed elsewhere">
      <List size="sm" spacing={4} className="breakable">
        {changes.map(({ label, before, now }) => (
          <List.Item key={label}>
            <strong>{label}</strong>: was <bdi>{before}</bdi>; is now <bdi>{now}</bdi>
          </List.Item>
        ))}
      </List>
      <Text size="sm" mt="xs">
        Your edits are still in the form, and have not been saved.
      </Text>
      <Group gap="xs" mt="xs">
        <Button size="xs" variant="default" onClick={versioned.keepMine}>
          Keep my edits
        </Button>
        <Button size="xs" variant="default" onClick={versioned.takeTheirs}>
          Discard my edits
        </Button>
      </Group>
    </Alert>
  );
}

interface SaveProblemProps {
  readonly problem: ApiProblem | undefined;
  /** True while the conflict itself is shown elsewhere in the form. */
  readonly isStale: boolean;
}

/** Why a change was not saved. */
export function SaveProblem({ problem, isStale }: SaveProblemProps): ReactNode {
  if (problem?.code !== 'version_conflict') return <ProblemAlert problem={problem} />;
  if (isStale) return null;
  return (
    <Alert color="yellow" role="alert">
      The key was changed elsewhere. This form is up to date again and still has your edits: save once more.
    </Alert>
  );
}

interface SaveButtonsProps {
  readonly action: string;
  readonly isDirty: boolean;
  /** True when somebody else changed it meanwhile. Nothing can be saved before that is settled. */
  readonly isStale: boolean;
  readonly pending: boolean;
  readonly onDiscard: () => void;
}

/** The buttons of a form that edits saved values. */
export function SaveButtons({ action, isDirty, isStale, pending, onDiscard }: SaveButtonsProps): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" disabled={!isDirty || pending} onClick={onDiscard}>
        Discard changes
      </Button>
      <Button type="submit" loading={pending} disabled={!isDirty || isStale}>
        {action}
      </Button>
    </Group>
  );
}
