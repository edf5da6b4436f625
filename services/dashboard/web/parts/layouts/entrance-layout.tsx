import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { installationQuery } from '../api/who-queries';
import { Brand } from './brand';
import { SchemeToggle } from './scheme-toggle';
import classes from './entrance-layout.module.css';

/** Frame of the pages for those who are not signed in. */
export function EntranceLayout(): ReactNode {
  const { data } = useQuery(installationQuery);
  return (
    <div className={classes['frame']}>
      <Group component="header" justify="space-between" className={classes['head']}>
        <Brand />
        <SchemeToggle />
      </Group>
      <main className={classes['main']}>
        <Outlet />
      </main>
      <footer className={classes['foot']}>
        {data?.hasOutbox && (
          <Text size="sm" c="dimmed">
            This installation does not send email. Read it in the{' '}
            <Link to="/outbox" className="text-link in-text">
              outbox
            </Link>
            .
          </Text>
        )}
      </footer>
    </div>
  );
}
