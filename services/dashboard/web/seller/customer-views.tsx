import { ActionIcon, Button, Group, TextInput } from '@mantine/core';
import { IconBookmark, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from 'react';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { CUSTOMERS_SEARCH } from './customers-search';

/** Lists of customers saved by name in this browser, with a button to save the present one. */
export function CustomerViews({ search }: { readonly search: Readonly<Record<string, string | undefined>> }): ReactNode {
  const { views, save, forget } = useSavedViews();
  const [isNaming, setNaming] = useState(false);
  const shown = Object.fromEntries(Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  const isPlain = Object.keys(shown).length === 0;
  if (isPlain && views.length === 0) return null;
  return (
    <Group gap="xs" mb="sm" component="nav" aria-label="Saved views">
      {views.map(({ name, search: saved }) => (
        <Group key={name} gap={2} wrap="nowrap">
          <Link to="/operator/customers" search={{ ...CUSTOMERS_SEARCH, ...saved }} className="text-link breakable">
            {name}
          </Link>
          <ActionIcon variant="subtle" color="gray" size="md" aria-label={`Forget the view ${name}`} onClick={() => forget(name)}>
            <IconX size={14} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      {!isPlain && (
        <Button
          size="compact-sm"
          variant="default"
          className="tappable"
          leftSection={<IconBookmark size={14} aria-hidden />}
          onClick={() => setNaming(true)}
        >
          Save this view
        </Button>
      )}
      {isNaming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onName={(name) => {
            save({ name, search: shown });
            setNaming(false);
          }}
        />
      )}
    </Group>
  );
}

function NameDialog({ onName, onClose }: { readonly onName: (name: string) => void; readonly onClose: () => void }): ReactNode {
  const [name, setName] = useState('');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') onName(name.trim());
  };
  return (
    <Dialog title="Save this view" onClose={onClose} mayCloseLightly>
      <form onSubmit={submit}>
        <TextInput
          label="Name"
          description="Kept in this browser. A view with the same name is replaced."
          maxLength={60}
          required
          data-autofocus
          mb="sm"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <FormButtons action="Save view" pending={false} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** A saved list of customers: members of the address's search. */
interface SavedView {
  readonly name: string;
  readonly search: Readonly<Record<string, string>>;
}

/** More would not help to find one. */
const MAX_VIEWS = 20;
const PLACE = 'views-customers';

const isView = (value: unknown): value is SavedView =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'search' in value &&
  typeof value.search === 'object' &&
  value.search !== null &&
  Object.values(value.search).every((each) => typeof each === 'string');

function parse(text: string | null): readonly SavedView[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isView).slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

/** Empty if the browser stores nothing. */
function readText(): string | null {
  try {
    return localStorage.getItem(PLACE);
  } catch {
    return null;
  }
}

const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Changes from another tab.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function write(views: readonly SavedView[]): void {
  localStorage.setItem(PLACE, JSON.stringify(views.slice(0, MAX_VIEWS)));
  for (const each of listeners) each();
}

/** The saved views in this browser, newest first. `save` replaces a view of the same name. */
function useSavedViews(): {
  readonly views: readonly SavedView[];
  readonly save: (view: SavedView) => void;
  readonly forget: (name: string) => void;
} {
  const views = parse(useSyncExternalStore(subscribe, readText));
  const without = (name: string): SavedView[] => views.filter((each) => each.name !== name);
  return {
    views,
    save: (view) => write([view, ...without(view.name)]),
    forget: (name) => write(without(name)),
  };
}
