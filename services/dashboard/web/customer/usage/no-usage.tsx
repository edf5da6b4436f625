import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { EmptyState } from '../../parts/components/empty-state';

/** For a customer who has no subscription and never made a request. */
export function NoUsage(): ReactNode {
  const create = (
    <Link to="/keys" className="text-link in-text">
      Create a key
    </Link>
  );
  return (
    <div className="panel">
      <EmptyState title="No usage yet" action={create}>
        Make your first call with a key; it appears here within seconds.
      </EmptyState>
    </div>
  );
}
