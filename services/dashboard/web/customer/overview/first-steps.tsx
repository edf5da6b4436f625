import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconCheck, IconKey, IconLoader } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type ListedKey } from '../../../contract/keys';
import { type Product } from '../../../contract/plans';
import { productsQuery } from '../../parts/api/queries';
import { CodeLine } from '../../parts/components/code-line';
import { Panel } from '../../parts/components/panel';
import { useSession } from '../../parts/hooks/use-session';
import { RefusalTable } from '../explain/refusal-table';
import { firstCall, firstRequest } from '../keys/first-call';
import classes from './first-steps.module.css';

interface FirstStepsProps {
  /** The newest key. None of the customer's keys has been used yet. */
  readonly newest: ListedKey | undefined;
  /** The product to begin with; undefined when nothing can be called. */
  readonly product: Product | undefined;
  readonly onCreate: () => void;
}

/** Mode of the first key. A test key costs nothing, if the product takes one. */
export function firstMode({ takesTestKeys }: Product): 'test' | 'live' {
  return takesTestKeys ? 'test' : 'live';
}

/** Whether anything is left after the first call. Without plans, a customer who began with a live key has all that there is. */
export const hasLastStep = (product: Product): boolean => firstMode(product) === 'test' || product.plans.length > 0;

/** A newcomer's steps: make a key, call, choose a plan. They stay whole until the first call has arrived. */
export function FirstSteps({ newest, product, onCreate }: FirstStepsProps): ReactNode {
  if (product === undefined)
    return <Text>There is nothing to call yet. As soon as a product is on sale, you can create a key for it here.</Text>;
  return (
    <Stack gap="md">
      <ol className={classes['steps']}>
        {newest === undefined ? (
          <MakeKey product={product} onCreate={onCreate} />
        ) : (
          <KeyMade item={newest} product={product} onCreate={onCreate} />
        )}
        <Step number={2} title="Run the sample call">
          {newest === undefined ? (
            <Text size="sm">You get a curl command that is ready to run, and see here when your call has arrived.</Text>
          ) : (
            <SampleCall item={newest} />
          )}
        </Step>
        {hasLastStep(product) && <ChooseStep product={product} />}
      </ol>
      {newest !== undefined && (
        <Panel title="Refused requests">
          <RefusalTable limit={5} isPaged={false} />
        </Panel>
      )}
    </Stack>
  );
}

function ChooseStep({ product }: { readonly product: Product }): ReactNode {
  const isTest = firstMode(product) === 'test';
  if (product.plans.length === 0) {
    return (
      <Step number={3} title="Create a live key">
        <Text size="sm">
          Live keys are for real use.{' '}
          <Link to="/keys" className="text-link in-text">
            Your keys
          </Link>
        </Text>
      </Step>
    );
  }
  return (
    <Step number={3} title={isTest ? 'Choose a plan and create a live key' : 'Choose a plan'}>
      <Text size="sm">
        {isTest ? 'Live keys are for real use. ' : 'Without one, you are on Free. '}
        <Link to="/plans" className="text-link in-text">
          See products, limits and prices
        </Link>
        .
      </Text>
    </Step>
  );
}

/** The last step, after the first call has arrived. */
export function LastStep({ product }: { readonly product: Product }): ReactNode {
  return (
    <ol className={classes['steps']}>
      <Step number={1} title={keyStepTitle(product)} isDone />
      <Step number={2} title="Run the sample call" isDone />
      <ChooseStep product={product} />
    </ol>
  );
}

interface KeyStepProps {
  readonly product: Product;
  readonly onCreate: () => void;
}

const keyStepTitle = (product: Product): string => (firstMode(product) === 'test' ? 'Create a test key' : 'Create a key');

function MakeKey({ product, onCreate }: KeyStepProps): ReactNode {
  return (
    <Step number={1} title={keyStepTitle(product)}>
      <Text size="sm">
        {firstMode(product) === 'test' && 'It costs nothing. '}Creating it subscribes you to its products on their base limits.
      </Text>
      <Group mt="sm">
        <Button leftSection={<IconKey size={16} aria-hidden />} onClick={onCreate}>
          {keyStepTitle(product)}
        </Button>
      </Group>
    </Step>
  );
}

function KeyMade({ item, product, onCreate }: { readonly item: ListedKey } & KeyStepProps): ReactNode {
  return (
    <Step number={1} title={keyStepTitle(product)} isDone>
      <Text size="sm">
        You have{' '}
        <Link to="/keys/$keyId" params={{ keyId: item.id }} className="text-link in-text breakable">
          <bdi>{item.name ?? 'an unnamed key'}</bdi>
        </Link>{' '}
        (<span className="mono keep">{item.maskedKey}</span>), which has not been used yet. A key is shown only once; if you have not kept
        it, create another.
      </Text>
      <Group mt="sm">
        <Button variant="default" size="xs" onClick={onCreate}>
          Create another key
        </Button>
      </Group>
    </Step>
  );
}

function SampleCall({ item }: { readonly item: ListedKey }): ReactNode {
  const { gatewayUrl } = useSession();
  const { data } = useQuery(productsQuery);
  const products = data?.products.filter(({ id }) => item.products.includes(id)) ?? [];
  const command = firstCall('YOUR_KEY', firstRequest(products, data?.first ?? null), gatewayUrl);
  return (
    <Stack gap="xs" mt={4}>
      {command !== undefined && <CodeLine label="With your key in place of YOUR_KEY" text={command} what="command" />}
      <Group gap={8} wrap="nowrap" role="status">
        <IconLoader size={18} aria-hidden className="dimmed" />
        <Text size="sm" c="dimmed">
          Waiting for your first call; it shows up here within seconds.
        </Text>
      </Group>
    </Stack>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone?: boolean;
  readonly children?: ReactNode;
}

function Step({ number, title, isDone = false, children }: StepProps): ReactNode {
  return (
    <li className={classes['step']}>
      <span className={classes['number']} aria-hidden data-done={isDone}>
        {isDone ? <IconCheck size={16} /> : number}
      </span>
      <div className={classes['body']}>
        <Title order={2}>
          {title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </Title>
        {children}
      </div>
    </li>
  );
}
