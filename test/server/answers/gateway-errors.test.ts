import { Registry } from 'prom-client';
import { GatewayErrors } from '../../../plugins/server/answers/gateway-errors';

it('counts by status what a gateway answered in place of an API, and nothing else', async () => {
  const [errors, registry] = [new GatewayErrors(), new Registry()];
  errors.show(registry);
  const answered = (status: string, head = '-'): string => `0123456789abcdef ${status} 0.010 120 ${head} units=-`;
  errors.hear([answered('500'), answered('502'), answered('502', '-, -1')].join('\n'));
  errors.hear([answered('200', '0.009'), answered('401'), answered('500', '0.009'), '5', ' 5', '0123456789abcdef 5', ''].join('\n'));
  const counts = (await registry.metrics()).match(/^tollgate_gateway_errors_total\{.*$/gm);
  expect(counts).toEqual(['tollgate_gateway_errors_total{status="500"} 1', 'tollgate_gateway_errors_total{status="502"} 2']);
});
