import { isChange } from '../../../services/dashboard/http/bind-endpoint';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { suspendCustomer } from '../../../services/selling/suspensions/suspend';
import { useDashboard, verdict } from '../support/dashboard';
import { askEndpoint, makeBelongings, digestEverything, samples } from '../support/endpoint-samples';

const dashboard = useDashboard({}, true);
const EMAIL = 'unpaid@example.com';
const changes = endpointsFor('members').filter((each) => isChange(each.name, each));

it('the session of a suspended customer buys nothing and makes nothing, as its tokens do not', async () => {
  const own = await makeBelongings(dashboard, EMAIL);
  await suspendCustomer(dashboard.pool, { customer: EMAIL, reason: 'unpaid since August', actor: 'cli' });
  const before = await digestEverything(dashboard.pool);
  for (const endpoint of changes.filter(({ whileSuspended }) => !whileSuspended)) {
    const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(own), cookie: own.cookie });
    expect([endpoint.name, verdict(answer)]).toEqual([endpoint.name, '403 customer_suspended']);
    expect(answer.json().detail).toBe('The seller suspended this account: unpaid since August.');
  }
  expect(await digestEverything(dashboard.pool)).toEqual(before);
});

it('it reads, revokes, cancels and leaves', async () => {
  const own = await makeBelongings(dashboard, EMAIL);
  await suspendCustomer(dashboard.pool, { customer: EMAIL, reason: 'unpaid', actor: 'cli' });
  const open = endpointsFor('members').filter((each) => !isChange(each.name, each) || each.whileSuspended);
  for (const endpoint of open) {
    const answer = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(own), cookie: own.cookie });
    expect([endpoint.name, verdict(answer)]).not.toEqual([endpoint.name, '403 customer_suspended']);
  }
  expect(changes.filter(({ whileSuspended }) => whileSuspended).map(({ name }) => name)).toEqual([
    'POST /keys/revoke',
    'POST /keys/:id/deactivate',
    'POST /keys/:id/revoke',
    'POST /subscriptions/:id/cancel',
    'POST /plan-requests/:id/withdraw',
    'PUT /billing/details',
    'POST /paid-plans/:id/cancel',
    'POST /billing/portal',
    'POST /alerts/read',
    'DELETE /webhooks/:id',
    'POST /tokens/:id/revoke',
    'POST /team/invitations/:id/revoke',
    'DELETE /team/members/:userId',
    'POST /team/leave',
  ]);
});
