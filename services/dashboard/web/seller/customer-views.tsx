import { ActionIcon, Button, Group, TextInput } from '@mantine/core';
import { IconBookmark, IconX } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useSavedViews } from '../parts/browser/saved-views';
import { Dialog } from '../parts/components/dialog';
import { FormButtons } from '../parts/components/form-buttons';
import { CUSTOMERS_SEARCH } from './customers-search';

/** Lists of customers saved by name in this browser, with a button to save the present one. */
export function CustomerViews({ search }: { readonly search: Readonly<Record<string, string | undefined>> }): ReactNode {
  const { views, save, forget } = useSavedViews('customers');
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
