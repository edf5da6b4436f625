import { Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { type Body } from '../../../contract/endpoints';
import { type Key } from '../../../contract/keys';
import { productsQuery } from '../../parts/api/queries';
import { call } from '../../parts/api/request';
import { toast } from '../../parts/browser/toast';
import { formatMoment } from '../../parts/format/time';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { useSession } from '../../parts/hooks/use-session';
import { useSubmit } from '../../parts/hooks/use-submit';
import { useUnsaved } from '../../parts/components/unsaved-guard';
import { ConflictNotice, SaveButtons, SaveProblem, isSameList, isSameSettings, useVersioned } from './saving';
import { checkExpiry, ExpiryChoice, expiryMoment } from './expiry-choice';
import { Loaded } from '../../parts/components/loaded';
import { TagsField } from './key-tags';
import { checkConsent, findNewSubscriptions, NewSubscriptions } from './new-subscriptions';
import { ProductChoice } from './product-choice';

interface Values {
  name: string;
  products: string[];
  tags: string[];
  expiry: { choice: string; day: string };
  consent: string[];
}

const valuesOf = (item: Key): Values => ({
  name: item.name ?? '',
  products: [...item.products],
  tags: [...item.tags],
  expiry: { choice: 'keep', day: '' },
  consent: [],
});

/** The fields that the form changes. Others stay as they are. */
function changesOf(values: Values, base: Key, timeZone: string): Body<'PATCH /keys/:id'> {
  const name = values.name.trim() || null;
  const expiresAt = expiryMoment(values.expiry, timeZone, new Date());
  return {
    version: base.version,
    ...(name !== base.name && { name }),
    ...(!isSameList(values.products, base.products) && { products: values.products }),
    ...(!isSameList(values.tags, base.tags) && { tags: values.tags }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Name, products, tags and expiry of a key. */
export function KeySettings({ item }: { readonly item: Key }): ReactNode {
  const { quotaTimeZone } = useSession();
  const client = useQueryClient();
  const products = useQuery(productsQuery);
  const added = (values: Values): string[] => values.products.filter((id) => !item.products.includes(id));
  const form = useForm<Values>({
    initialValues: valuesOf(item),
    validate: {
      name: (value) => (value.trim().length > 100 ? 'Use at most 100 characters.' : null),
      products: (value) => (value.length === 0 ? 'Choose at least one product.' : null),
      expiry: (value) => checkExpiry(value, quotaTimeZone, new Date()),
      consent: (_value, values) => checkConsent(products.data?.products ?? [], { chosen: added(values), consent: values.consent }),
    },
  });
  const reset = (to: Key): void => {
    form.setInitialValues(valuesOf(to));
    form.setValues(valuesOf(to));
  };
  useUnsaved(form.isDirty() && item.state !== 'revoked');
  const versioned = useVersioned({ item, isDirty: form.isDirty(), isSame: isSameSettings, onReset: reset });
  const { submit, pending, problem } = useSubmit(async (values: Values) => {
    try {
      const subscribes = findNewSubscriptions({ products: products.data?.products ?? [], chosen: added(values) }).length > 0;
      await call('PATCH /keys/:id', {
        params: { id: item.id },
        body: { ...changesOf(values, versioned.base, quotaTimeZone), ...(subscribes && { subscribes }), consent: values.consent },
      });
      form.resetDirty(values);
      toast('Settings saved.');
    } finally {
      await client.invalidateQueries({ queryKey: ['keys'] });
    }
  });
  if (item.state === 'revoked') return <Revoked item={item} />;
  const keep = item.expiresAt === null ? 'Never (unchanged)' : `${formatMoment(item.expiresAt)} (unchanged)`;
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
      <Stack gap="md">
        <ConflictNotice versioned={versioned} item={item} />
        <TextInput label="Name" {...form.getInputProps('name')} />
        <Loaded query={products} height={330}>
          {(data) => <ProductChoice products={data.products} {...form.getInputProps('products')} value={form.values.products} />}
        </Loaded>
        <NewSubscriptions
          products={products.data?.products ?? []}
          chosen={added(form.values)}
          consent={form.values.consent}
          onConsent={(agreed) => form.setFieldValue('consent', agreed)}
          error={form.errors['consent']}
        />
        <TagsField {...form.getInputProps('tags')} value={form.values.tags} />
        <ExpiryChoice keep={keep} {...form.getInputProps('expiry')} value={form.values.expiry} />
        <SaveProblem problem={problem} isStale={versioned.isStale} />
        <SaveButtons
          action="Save settings"
          isDirty={form.isDirty()}
          isStale={versioned.isStale}
          pending={pending}
          onDiscard={versioned.takeTheirs}
        />
      </Stack>
    </form>
  );
}

function Revoked({ item }: { readonly item: Key }): ReactNode {
  const titleOf = useProductTitles();
  return (
    <Stack gap={4}>
      <Text size="sm">Products: {item.products.map(titleOf).join(', ')}</Text>
      <Text size="sm" c="dimmed">
        A revoked key cannot be changed or restored. Create a new one instead.
      </Text>
    </Stack>
  );
}
