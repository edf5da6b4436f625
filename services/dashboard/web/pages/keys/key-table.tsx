import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { type ListedKey } from '../../../contract/keys';
import { DataTable, type Column } from '../../components/data-table';
import { KeyStateBadge } from './key-state-badge';
import { Moment } from '../../components/moment';

const COLUMNS: readonly Column<ListedKey>[] = [
  {
    header: 'Name',
    isTitle: true,
    cell: (key) => (
      <Link to="/keys/$keyId" params={{ keyId: key.id }} className="text-link">
        <bdi>{key.name ?? 'Unnamed key'}</bdi>
      </Link>
    ),
  },
  { header: 'Key', cell: (key) => <span className="mono keep">{key.maskedKey}</span> },
  { header: 'Mode', cell: (key) => <ModeBadge mode={key.mode} /> },
  { header: 'State', cell: (key) => <KeyStateBadge item={key} /> },
  { header: 'Products', cell: (key) => <Products products={key.products} /> },
  { header: 'Expires', cell: (key) => <Moment at={key.expiresAt} /> },
  { header: 'Last used', cell: (key) => <Moment at={key.lastUsedAt} /> },
];

interface KeyTableProps {
  readonly keys: readonly ListedKey[] | undefined;
  readonly empty: ReactNode;
}

/** One page of keys. */
export function KeyTable({ keys, empty }: KeyTableProps): ReactNode {
  return <DataTable caption="Keys" columns={COLUMNS} rows={keys} rowKey={(key) => key.id} expectedRows={8} empty={empty} />;
}

/** Live keys return real data, test keys sample data. */
export function ModeBadge({ mode }: Pick<ListedKey, 'mode'>): ReactNode {
  return <Badge color={mode === 'live' ? 'indigo' : 'gray'}>{mode === 'live' ? 'Live' : 'Test'}</Badge>;
}

const SHOWN_PRODUCTS = 2;

function Products({ products }: Pick<ListedKey, 'products'>): ReactNode {
  const more = products.length - SHOWN_PRODUCTS;
  return (
    <span title={products.join(', ')}>
      {products.slice(0, SHOWN_PRODUCTS).map((product, index) => (
        <Fragment key={product}>
          {index > 0 && ', '}
          <span className="keep">{product}</span>
        </Fragment>
      ))}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
