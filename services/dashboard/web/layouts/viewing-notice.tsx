import { Alert, Button, Group, Text } from '@mantine/core';
import { IconEye } from '@tabler/icons-react';
import { type ReactNode } from 'react';
import { stopViewing, viewedCustomer } from '../browser/viewed-customer';

/** Says to an operator whose pages these are. Nothing for everybody else. */
export function ViewingNotice({ email }: { readonly email: string }): ReactNode {
  const customerId = viewedCustomer();
  if (customerId === undefined) return null;
  const leave = (): void => {
    stopViewing();
    window.location.assign(`/operator/customers/${customerId}`);
  };
  return (
    <Alert color="indigo" icon={<IconEye size={18} aria-hidden />} title="You see what the customer sees" mb="md">
      <Group justify="space-between" gap="xs">
        <Text size="sm">These are the pages of {email}, to read only. The customer’s audit log says that you looked.</Text>
        <Button size="xs" variant="default" onClick={leave}>
          Back to the console
        </Button>
      </Group>
    </Alert>
  );
}
