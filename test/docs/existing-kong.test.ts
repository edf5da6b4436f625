import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { checkKongYml, type KongReport } from '../../kong/check/check-kong-yml';
import { KONG_SCHEMA, parseConfig } from '../../plugins/access-layer/config';

interface Plugin {
  readonly name: string;
  readonly config: Record<string, unknown>;
}
interface ForeignKong {
  readonly services: readonly { readonly name: string; readonly routes: readonly { plugins?: readonly Plugin[] }[] }[];
}

const page = readFileSync(join(__dirname, '../../docs/operate/existing-kong.md'), 'utf8');
const foreign = readFileSync(join(__dirname, 'fixtures/foreign-kong.yml'), 'utf8');
const [block] = (parse(/```yaml\n(.*?)```/s.exec(page)?.[1] ?? '') as { plugins: Plugin[] }).plugins;
const products = [{ id: 'orders', prefix: '/orders', routes: [{ path: '/orders' }] }];

/** The foreign kong.yml with a plugin on the route of orders. */
function withPlugin(plugin: Plugin | undefined): KongReport {
  const kong = parse(foreign) as ForeignKong;
  const route = kong.services.find(({ name }) => name === 'orders')?.routes[0];
  if (route && plugin) route.plugins = [plugin];
  return checkKongYml(stringify(kong), products);
}

it('the page’s settings are those of the plugin, with their defaults', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name, value]) => [name, value?.replaceAll('`', '')]);
  const fields = KONG_SCHEMA.flatMap((field) => Object.entries(field)) as [string, { default?: unknown }][];
  expect(rows).toEqual(
    fields.map(([name, { default: value }]) => [
      name,
      Array.isArray(value) ? 'all four' : value === undefined ? 'required' : String(value),
    ]),
  );
});

it('the page’s block on one route of somebody else’s gateway is right: first noted as not enforced, then without a word', () => {
  if (!block) throw new Error('the page has no block');
  expect(parseConfig(block.config)).toMatchObject({ products: ['orders'], enforce: false });
  const { problems, notes, others } = withPlugin(block);
  expect([problems, notes]).toEqual([[], [expect.stringContaining('service orders, route orders: its access-layer does not enforce')]]);
  expect(others.map((text) => /route (\w+)/.exec(text)?.[1])).toEqual(['website', 'stock']);
  const { enforce: _, ...enforced } = block.config;
  expect(withPlugin({ ...block, config: enforced })).toMatchObject({ problems: [], notes: [] });
});

it('without the block, the product has no route', () => {
  expect(withPlugin(undefined).problems).toEqual(['product orders: no route takes /orders']);
});
