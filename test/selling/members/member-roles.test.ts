import { PERMISSIONS, roleMay, type ROLES } from '../../../services/selling/members/member-roles';

const granted = (role: (typeof ROLES)[number]) => PERMISSIONS.filter((each) => roleMay(role, each));

describe('roles', () => {
  it('grant an owner everything, and an admin all but ownership and invoices', () => {
    expect(granted('owner')).toEqual([...PERMISSIONS]);
    expect(granted('admin')).toEqual(PERMISSIONS.filter((each) => each !== 'ownership' && each !== 'billing'));
  });

  it('keep plans, tokens and members from developers, and keys, tokens and members from billing', () => {
    expect(granted('developer')).toEqual(['read', 'own', 'notices', 'keys', 'webhooks']);
    expect(granted('billing')).toEqual(['read', 'own', 'notices', 'plans', 'billing', 'alerts']);
  });

  it('let a read-only member see, leave, and change nothing', () => {
    expect(granted('reader')).toEqual(['read', 'own']);
  });
});
