import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type LoggedRequest } from '../../../contract/requests';
import { Asked, SIZE_COLUMN, STATUS_COLUMN, TOOK_COLUMN, UNITS_COLUMN } from '../../parts/components/answer-cells';
import { type Column } from '../../parts/components/data-table';
import { Moment } from '../../parts/components/moment';

/** What became of a request, leading to why. */
function Outcome({ request }: { readonly request: LoggedRequest }): ReactNode {
  const { requestId, outcome } = request;
  return (
    <>
      <Link to="/explain" search={{ request: requestId }} className="text-link mono keep">
        {outcome}
      </Link>
      <Note request={request} />
    </>
  );
}

function KeyOf({ request: { key } }: { readonly request: LoggedRequest }): ReactNode {
  if (key === null) return '–';
  return (
    <>
      <Link to="/keys/$keyId" params={{ keyId: key.id }} className="text-link in-text breakable">
        {key.name ?? 'Unnamed key'}
      </Link>{' '}
      <span className="mono dimmed keep">{key.masked}</span>
    </>
  );
}

function Note({ request: { givenBack, share } }: { readonly request: LoggedRequest }): ReactNode {
  return (
    <>
      {givenBack && (
        <Badge color="yellow" variant="light" display="block" w="fit-content">
          Failed, given back
        </Badge>
      )}
      {share !== null && share < 1 && <span className="dimmed block">{sampleText(share)}</span>}
    </>
  );
}

/** `1 in 20 is listed`. @param share above 0 and below 1 */
export function sampleText(share: number): string {
  if (share <= 0) return 'few are listed';
  const oneIn = 1 / share;
  return oneIn < 2 ? `${Math.round(share * 100)}% are listed` : `1 in ${new Intl.NumberFormat('en').format(Math.round(oneIn))} is listed`;
}

/**
 * Columns of the log.
 * @param titleOf the name of a product, by its id
 */
export function requestColumns(titleOf: (product: string) => string): readonly Column<LoggedRequest>[] {
  return [
    { header: 'Outcome', isTitle: true, cell: (request) => <Outcome request={request} /> },
    { header: 'Time', cell: ({ at }) => <Moment at={at} isExact /> },
    { header: 'Request', isWide: true, cell: ({ method, path }) => <Asked method={method} path={path} /> },
    STATUS_COLUMN,
    TOOK_COLUMN,
    SIZE_COLUMN,
    UNITS_COLUMN,
    { header: 'Product', cell: ({ product }) => (product === null ? '–' : titleOf(product)) },
    { header: 'Key', isWide: true, cell: (request) => <KeyOf request={request} /> },
  ];
}

/** For a short list: on a key's own page every row would name the key, and the overview has no room for it. */
export function requestColumnsWithoutKey(titleOf: (product: string) => string): readonly Column<LoggedRequest>[] {
  return requestColumns(titleOf).filter(({ header }) => header !== 'Key');
}
