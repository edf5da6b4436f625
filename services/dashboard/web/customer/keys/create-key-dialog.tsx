import { useQueryClient, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode, useLayoutEffect } from 'react';
import { Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CreatedKey } from '../../../contract/keys';
import { Dialog } from '../../parts/components/dialog';
import { SecretPanel } from './secret-panel';
import { productsQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { splitRules } from './rule-text';
import { uniqueId } from '../../parts/browser/unique-id';
import { useSession } from '../../parts/hooks/use-session';
import { useSubmit } from '../../parts/hooks/use-submit';
import { useUnsaved } from '../../parts/components/unsaved-guard';
import { checkExpiry, ExpiryChoice, expiryMoment } from './expiry-choice';
import { FormButtons } from '../../parts/components/form-buttons';
import { Loaded } from '../../parts/components/loaded';
import { TagsField } from './key-tags';
import { ModeChoice, RefusedTestKeys } from './mode-choice';
import { checkConsent, NewSubscriptions } from './new-subscriptions';
import { ProductChoice } from './product-choice';
import { RuleWarnings } from './rule-warnings';
import { SubmissionProblem } from './submission-problem';

interface CreateKeyDialogProps {
  readonly onClose: () => void;
  readonly initialMode?: 'live' | 'test';
  readonly initialProducts?: readonly string[];
}

/** Makes a key, then shows it once. Rendered only while it is open: closing it forgets the secret. */
export function CreateKeyDialog({ onClose, initialMode = 'test', initialProducts = [] }: CreateKeyDialogProps): ReactNode {
  const client = useQueryClient();
  const [created, setCreated] = useState<CreatedKey>();
  const [isHeld, setHeld] = useState(false);
  function keep(answer: CreatedKey): void {
    setCreated(answer);
    void client.invalidateQueries();
  }
  // A click beside the dialog must not lose the secret, the typed text, or a response that is on its way.
  const mayCloseLightly = created === undefined && !isHeld;
  return (
    <Dialog
      onClose={onClose}
      title={created ? 'Your new key' : 'Create a key'}
      size="lg"
      mayCloseLightly={mayCloseLightly}
      hasCloseButton={mayCloseLightly}
    >
      {created ? (
        <SecretPanel created={created} onClose={onClose} />
      ) : (
        <CreateKeyForm initialMode={initialMode} initialProducts={initialProducts} onCreated={keep} onHold={setHeld} onCancel={onClose} />
      )}
    </Dialog>
  );
}

interface CreateKeyFormProps {
  readonly initialMode: 'live' | 'test';
  readonly initialProducts: readonly string[];
  readonly onCreated: (answer: CreatedKey) => void;
  /** True while closing would lose typed text or a response that is on its way. */
  readonly onHold: (holds: boolean) => void;
  readonly onCancel: () => void;
}

const checkName = (value: string): string | null => (value.trim().length > 100 ? 'Use at most 100 characters.' : null);

/** The properties of a new key. One form is one submission: sent twice, it makes one key. */
function CreateKeyForm({ initialMode, initialProducts, onCreated, onHold, onCancel }: CreateKeyFormProps): ReactNode {
  const { quotaTimeZone } = useSession();
  const products = useQuery(productsQuery);
  const [submission] = useState(uniqueId);
  const hasTestKeys = products.data?.products.some(({ takesTestKeys }) => takesTestKeys) !== false;
  const form = useForm({
    initialValues: {
      name: '',
      mode: initialMode,
      products: [...initialProducts],
      tags: new Array<string>(),
      expiry: { choice: '', day: '' },
      rules: '',
      consent: new Array<string>(),
    },
    validate: {
      name: checkName,
      products: (value: string[]) => (value.length === 0 ? 'Choose at least one product.' : null),
      expiry: (value) => checkExpiry(value, quotaTimeZone, new Date()),
      consent: (consent, { products: chosen }) => checkConsent(products.data?.products ?? [], { chosen, consent }),
    },
  });
  const { submit, pending, problem } = useSubmit(
    async ({ name, mode: wanted, products: chosen, tags, expiry, rules, consent }: typeof form.values) => {
      const expiresAt = expiryMoment(expiry, quotaTimeZone, new Date());
      const mode = hasTestKeys ? wanted : 'live';
      const body = { submission, mode, products: chosen, tags, rules: splitRules(rules), consent };
      onCreated(
        await call('POST /keys', { body: { ...body, ...(name.trim() && { name: name.trim() }), ...(expiresAt && { expiresAt }) } }),
      );
    },
  );
  const isDirty = form.isDirty();
  useUnsaved(isDirty);
  // This runs in the same commit as the edit, so that an Escape right after the first letter finds the dialog held.
  useLayoutEffect(() => onHold(pending || isDirty), [onHold, pending, isDirty]);
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="md">
        <TextInput label="Name" description="Optional; helps you tell your keys apart" {...form.getInputProps('name')} data-autofocus />
        {hasTestKeys && <ModeChoice {...form.getInputProps('mode')} />}
        <Loaded query={products} height={330}>
          {(data) => <ProductChoice products={data.products} {...form.getInputProps('products')} value={form.values.products} />}
        </Loaded>
        {hasTestKeys && form.values.mode === 'test' && (
          <RefusedTestKeys
            products={(products.data?.products ?? []).filter(({ id }) => form.values.products.includes(id))}
            onLive={() => form.setFieldValue('mode', 'live')}
          />
        )}
        <NewSubscriptions
          products={products.data?.products ?? []}
          chosen={form.values.products}
          consent={form.values.consent}
          onConsent={(agreed) => form.setFieldValue('consent', agreed)}
          error={form.errors['consent']}
        />
        <ExpiryChoice {...form.getInputProps('expiry')} value={form.values.expiry} />
        <Textarea
          label="Whitelist rules"
          description="One per line: an IP address, a CIDR range, a domain or *.domain. Without rules, any caller is allowed."
          placeholder={'203.0.113.0/24\n*.example.com'}
          autosize
          minRows={2}
          maxRows={8}
          classNames={{ input: 'mono' }}
          {...form.getInputProps('rules')}
        />
        <RuleWarnings rules={splitRules(form.values.rules)} />
        <TagsField {...form.getInputProps('tags')} value={form.values.tags} />
        <SubmissionProblem problem={problem} />
        <FormButtons action="Create key" pending={pending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
