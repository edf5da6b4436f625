import { Alert, Button, Group, List, Text } from '@mantine/core';
import { IconUsers } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { type Key } from '../../../contract/keys';
import { type ApiProblem } from '../../parts/api/api-problem';
import { ProblemAlert } from '../../parts/components/problem-alert';
import { formatMoment } from '../../parts/format/time';

interface VersionedOptions {
  /** The server's present version. */
  readonly item: Key;
  readonly isDirty: boolean;
  /** True when both have the same values in the fields of this form. */
  readonly isSame: (a: Key, b: Key) => boolean;
  /** Puts the key's values into the form. */
  readonly onReset: (item: Key) => void;
}

interface Versioned {
  /** The version on which the form's edits are based. Its number is sent with the change. */
  readonly base: Key;
  /** True when somebody else changed the same fields while the form has edits. */
  readonly isStale: boolean;
  /** Drops the edits. */
  readonly takeTheirs: () => void;
  /** Keeps the edits, and bases them on the other person's version. */
  readonly keepMine: () => void;
}

/** Follows a key that others may change while a form edits it. Without edits the form follows too; with edits it reports the change. */
export function useVersioned(options: VersionedOptions): Versioned {
  const { item, isDirty, isSame, onReset } = options;
  const [base, setBase] = useState(item);
  const isChanged = item.version !== base.version;
  const isStale = isChanged && isDirty && !isSame(item, base);
  useEffect(() => {
    if (!isChanged || isStale) return;
    setBase(item);
    if (!isDirty) onReset(item);
  });
  return {
    base,
    isStale,
    takeTheirs: () => {
      setBase(item);
      onReset(item);
    },
    keepMine: () => setBase(item),
  };
}

interface ConflictNoticeProps {
  readonly versioned: Versioned;
  /** The server's present version. */
  readonly item: Key;
}

/** Shows what somebody else changed in the key meanwhile, and lets the reader keep either version. */
export function ConflictNotice({ versioned, item }: ConflictNoticeProps): ReactNode {
  if (!versioned.isStale) return null;
  const changes = describeChanges(versioned.base, item);
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

/** One field that differs. */
interface KeyChange {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

const list = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', '));

/** The differences between two states of a key, in words. */
function describeChanges(before: Key, now: Key): KeyChange[] {
  const expiry = (key: Key): string => (key.expiresAt === null ? 'never' : formatMoment(key.expiresAt));
  const rows: KeyChange[] = [
    { label: 'Name', before: before.name ?? 'none', now: now.name ?? 'none' },
    { label: 'State', before: before.state, now: now.state },
    { label: 'Products', before: list(before.products), now: list(now.products) },
    { label: 'Tags', before: list(before.tags), now: list(now.tags) },
    { label: 'Expires', before: expiry(before), now: expiry(now) },
    ...ruleChanges(before.rules, now.rules),
  ];
  return rows.filter((row) => row.before !== row.now);
}

/** Lists of rules can be long, so only additions and removals are shown. */
function ruleChanges(before: readonly string[], now: readonly string[]): KeyChange[] {
  const old = new Set(before);
  const fresh = new Set(now);
  const gone = before.filter((rule) => !fresh.has(rule));
  const added = now.filter((rule) => !old.has(rule));
  if (gone.length + added.length === 0) return [];
  return [{ label: 'Rules', before: `removed: ${list(gone.slice(0, 20))}`, now: `added: ${list(added.slice(0, 20))}` }];
}

/** True when name, products, tags and expiry are the same. */
export function isSameSettings(a: Key, b: Key): boolean {
  return a.name === b.name && a.expiresAt === b.expiresAt && isSameList(a.products, b.products) && isSameList(a.tags, b.tags);
}

/** True when the rules are the same. */
export function isSameRules(a: Key, b: Key): boolean {
  return isSameList(a.rules, b.rules);
}

/** The same members, in any order. */
export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && [...a].sort().join('\n') === [...b].sort().join('\n');
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
