import { Radio, Stack } from '@mantine/core';
import { type ReactNode } from 'react';
import { type Role } from '../../../contract/team';
import { ROLE_MEANINGS, ROLE_NAMES } from '../../parts/format/role-words';

interface RoleChoiceProps<Offered extends Role> {
  readonly roles: readonly Offered[];
  readonly value: Offered;
  readonly onChange: (role: Offered) => void;
}

/** Chooses one role. Each is shown with its permissions. */
export function RoleChoice<Offered extends Role>({ roles, value, onChange }: RoleChoiceProps<Offered>): ReactNode {
  const choose = (text: string): void => {
    const found = roles.find((each) => each === text);
    if (found !== undefined) onChange(found);
  };
  return (
    <Radio.Group label="Role" value={value} onChange={choose}>
      <Stack gap={10} mt={6}>
        {roles.map((role) => (
          <Radio key={role} value={role} label={ROLE_NAMES[role]} description={ROLE_MEANINGS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
