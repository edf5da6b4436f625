import { Button, Group, Text, Title } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import classes from './first-steps.module.css';

/** What a newcomer does: make a key, call, choose a plan. */
export function FirstSteps({ onCreate }: { readonly onCreate: () => void }): ReactNode {
  return (
    <ol className={classes['steps']}>
      <Step number={1} title="Create a test key">
        <Text size="sm">It is free and returns sample data. Creating it subscribes you to its products on their base limits.</Text>
        <Group mt="sm">
          <Button leftSection={<IconKey size={16} aria-hidden />} onClick={onCreate}>
            Create a test key
          </Button>
        </Group>
      </Step>
      <Step number={2} title="Run the sample call">
        <Text size="sm">The dialog shows a curl command that is ready to run, and tells you when your call has arrived.</Text>
      </Step>
      <Step number={3} title="Choose a plan and create a live key">
        <Text size="sm">
          Live keys return real data.{' '}
          <Link to="/plans" className="text-link in-text">
            See products, limits and prices
          </Link>
          .
        </Text>
      </Step>
    </ol>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ number, title, children }: StepProps): ReactNode {
  return (
    <li className={classes['step']}>
      <span className={classes['number']} aria-hidden>
        {number}
      </span>
      <div>
        <Title order={2}>{title}</Title>
        {children}
      </div>
    </li>
  );
}
