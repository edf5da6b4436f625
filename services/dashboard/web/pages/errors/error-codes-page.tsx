import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { type ApiDocument, type ErrorCode } from '../../../contract/api-document';
import { CHARGES, otherSuccesses, type OtherSuccess, sendersOf } from '../../../contract/error-codes';
import { documentQuery } from '../../api/queries';
import { DataTable, type Column } from '../../components/data-table';
import { Loaded } from '../../components/loaded';
import { PageTitle } from '../../components/page-title';
import { Panel } from '../../components/panel';
import { useProductTitles } from '../../hooks/use-product-titles';
import classes from './error-codes.module.css';

/** Every code that products and the gateway send: what it means, whether it is charged and what to do. */
export function ErrorCodesPage(): ReactNode {
  const description = useQuery(documentQuery);
  return (
    <>
      <PageTitle title="Errors">
        Errors are <span className="mono breakable">application/problem+json</span>. Decide by <span className="mono">code</span>: it is
        stable, texts may change. A <span className="mono">reason</span> that your request brought about, such as{' '}
        <span className="mono">locked</span>, <span className="mono">quota</span> or <span className="mono">too_complex</span>, is charged.
      </PageTitle>
      <Loaded query={description} height={1_200}>
        {(document) => <Codes document={document} />}
      </Loaded>
    </>
  );
}

function Codes({ document }: { readonly document: ApiDocument }): ReactNode {
  const titleOf = useProductTitles();
  const hash = useLocation({ select: (location) => location.hash });
  // The codes arrive after the page: what the address names was not there yet.
  useEffect(() => {
    if (hash !== '') window.document.getElementById(hash)?.scrollIntoView();
  }, [hash]);
  const columns = columnsOf((code) => sendersOf(document, code).map(titleOf));
  const errors = document['x-errors'];
  const successes = otherSuccesses(document);
  const keyOf = ({ code }: ErrorCode): string => code;
  return (
    <div className={classes['parts']}>
      <Panel title="Errors of every product">
        <DataTable caption="Errors of every product" columns={columns} rows={errors.filter(({ isOwn }) => !isOwn)} rowKey={keyOf} />
      </Panel>
      <Panel title="Errors of certain products">
        <DataTable caption="Errors of certain products" columns={columns} rows={errors.filter(({ isOwn }) => isOwn)} rowKey={keyOf} />
      </Panel>
      {successes.length > 0 && (
        <Panel title="Successes that are not 200">
          <DataTable caption="Successes that are not 200" columns={SUCCESSES} rows={successes} rowKey={({ status }) => status} />
        </Panel>
      )}
    </div>
  );
}

function columnsOf(sendersIn: (code: string) => readonly string[]): readonly Column<ErrorCode>[] {
  return [
    {
      header: 'Code',
      isTitle: true,
      cell: ({ code }) => (
        <Link
          to="/reference/errors"
          hash={code}
          id={code}
          activeOptions={{ includeHash: true }}
          className={`text-link mono ${classes['code']}`}
        >
          {code}
        </Link>
      ),
    },
    { header: 'Status, meaning, charged', isWide: true, cell: ({ failures }) => <Failures failures={failures} /> },
    {
      header: 'What to do',
      isWide: true,
      cell: ({ code, remedy }) => (
        <>
          {remedy}
          <Senders titles={sendersIn(code)} />
        </>
      ),
    },
  ];
}

function Failures({ failures }: Pick<ErrorCode, 'failures'>): ReactNode {
  return failures.map(({ status, title, charge }) => (
    <div key={`${status} ${title}`}>
      <strong>{status}</strong> {title}. <span className="dimmed">Charged: {CHARGES[charge].toLowerCase()}.</span>
    </div>
  ));
}

function Senders({ titles }: { readonly titles: readonly string[] }): ReactNode {
  if (titles.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      Sent by {titles.join(', ')}
    </Text>
  );
}

const SUCCESSES: readonly Column<OtherSuccess>[] = [
  { header: 'Status', isTitle: true, cell: ({ status }) => <span className="numbers">{status}</span> },
  { header: 'Meaning', isWide: true, cell: ({ description }) => description },
  { header: 'Routes', isWide: true, cell: ({ operations }) => <span className="mono breakable">{operations.join(', ')}</span> },
];
