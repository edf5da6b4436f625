import { type ReactNode } from 'react';
import { type Permission } from '../../../contract/team';
import { useMay } from '../hooks/use-session';

/** Disables every field and button inside for a role that may not use them. */
export function Guarded({ needs, children }: { readonly needs: Permission; readonly children: ReactNode }): ReactNode {
  if (useMay(needs)) return children;
  return (
    <fieldset disabled className="guarded">
      {children}
    </fieldset>
  );
}
