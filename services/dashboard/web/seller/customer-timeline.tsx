import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { auditOfAllQuery } from '../parts/api/operator-queries';
import { EmptyState } from '../parts/components/empty-state';
import { Loaded } from '../parts/components/loaded';
import { Moment } from '../parts/components/moment';
import { Panel } from '../parts/components/panel';
import { actionName } from '../customer/audit/action-names';
import { Details } from '../customer/audit/audit-cells';

/** What happened to a customer, by whomever, newest first: the first page of its audit log in words. */
export function CustomerTimeline({ customerId }: { readonly customerId: string }): ReactNode {
  const query = useQuery(auditOfAllQuery({ customer: customerId }, undefined));
  const all = (
    <Link to="/operator/audit" search={{ customer: customerId, actor: undefined, action: undefined }} className="text-link">
      Audit log
    </Link>
  );
  return (
    <Panel title="Timeline" aside={all}>
      <Loaded query={query} height={200}>
        {({ entries }) =>
          entries.length === 0 ? (
            <EmptyState title="Nothing happened yet">What the customer, operators and programs do appears here.</EmptyState>
          ) : (
            <Stack gap={8} component="ol" m={0} pl={0} fz="sm" style={{ listStyle: 'none' }}>
              {entries.map(({ at, actor, action, subject, details }, index) => (
                // Lines of the log have no id of their own here, and are only added before the first.
                <li key={`${at} ${action} ${entries.length - index}`}>
                  <span className="dimmed">
                    <Moment at={at} /> ·{' '}
                  </span>
                  <strong>{actionName(action)}</strong>
                  {subject.label !== null && <span className="mono"> {subject.label}</span>}
                  <span className="dimmed breakable"> by {actor}</span>
                  {Object.keys(details).length > 0 && (
                    <div>
                      <Details details={details} />
                    </div>
                  )}
                </li>
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Panel>
  );
}
