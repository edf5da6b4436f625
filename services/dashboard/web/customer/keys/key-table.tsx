import { Badge, Checkbox, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { type ListedKey } from '../../../contract/keys';
import { DataTable, type Column } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { KeyStateBadge } from './key-state-badge';
import { KeyTags } from './key-tags';

const columnsOf = (titleOf: (product: string) => string): readonly Column<ListedKey>[] => [
  { header: 'Key', cell: (key) => <span className="mono keep">{key.maskedKey}</span> },
  { header: 'Mode', cell: (key) => <ModeBadge mode={key.mode} /> },
  { header: 'State', cell: (key) => <KeyStateBadge item={key} /> },
  { header: 'Products', cell: (key) => <KeyProducts products={key.products.map(titleOf)} most={SHOWN_PRODUCTS} /> },
  { header: 'Expires', cell: (key) => <Moment at={key.expiresAt} /> },
  { header: 'Last used', cell: (key) => <Moment at={key.lastUsedAt} /> },
];

/** The chosen keys of the shown page. A key that is out of sight is never chosen. */
export interface KeyChoice {
  readonly chosen: readonly ListedKey[];
  /** Keys of the page that can be revoked. */
  readonly possible: readonly ListedKey[];
  readonly choose: (id: string, isChosen: boolean) => void;
  readonly chooseAll: (isChosen: boolean) => void;
}

/** @param keys of the page; undefined while they load */
export function useChosenKeys(keys: readonly ListedKey[] | undefined): KeyChoice {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const possible = (keys ?? []).filter(({ state }) => state !== 'revoked');
  return {
    possible,
    chosen: possible.filter(({ id }) => ids.has(id)),
    choose: (id, isChosen) => setIds((now) => new Set(isChosen ? [...now, id] : [...now].filter((each) => each !== id))),
    chooseAll: (isChosen) => setIds(new Set(isChosen ? possible.map(({ id }) => id) : [])),
  };
}

interface KeyTableProps {
  readonly keys: readonly ListedKey[] | undefined;
  readonly choice: KeyChoice;
  readonly empty: ReactNode;
}

/** One page of keys, with boxes to choose some. */
export function KeyTable({ keys, choice, empty }: KeyTableProps): ReactNode {
  const name: Column<ListedKey> = { header: 'Name', isTitle: true, cell: (key) => <Name item={key} choice={choice} /> };
  const columns = [name, ...columnsOf(useProductTitles())];
  return <DataTable caption="Keys" columns={columns} rows={keys} rowKey={(key) => key.id} expectedRows={8} empty={empty} />;
}

function Name({ item, choice }: { readonly item: ListedKey; readonly choice: KeyChoice }): ReactNode {
  const name = item.name ?? 'Unnamed key';
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Checkbox
        aria-label={`Select ${name} ${item.maskedKey}`}
        disabled={item.state === 'revoked'}
        checked={choice.chosen.some(({ id }) => id === item.id)}
        onChange={(event) => choice.choose(item.id, event.currentTarget.checked)}
      />
      <div>
        <Link to="/keys/$keyId" params={{ keyId: item.id }} className="text-link">
          <bdi className="breakable">{name}</bdi>
        </Link>
        <KeyTags tags={item.tags} />
      </div>
    </Group>
  );
}

/** Live keys are for real use, test keys for trying. */
export function ModeBadge({ mode }: Pick<ListedKey, 'mode'>): ReactNode {
  return <Badge color={mode === 'live' ? 'indigo' : 'gray'}>{mode === 'live' ? 'Live' : 'Test'}</Badge>;
}

/** Number of products shown for each key of a list. */
const SHOWN_PRODUCTS = 2;

interface KeyProductsProps {
  /** Their titles, or ids. */
  readonly products: readonly string[];
  /** How many are shown. The title lists all. */
  readonly most?: number;
}

/** The products that a key opens. */
export function KeyProducts({ products, most = products.length }: KeyProductsProps): ReactNode {
  const more = products.length - most;
  return (
    <span title={products.join(', ')}>
      {products.slice(0, most).map((product, index) => (
        <Fragment key={product}>
          {index > 0 && ', '}
          <span className="keep">{product}</span>
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
