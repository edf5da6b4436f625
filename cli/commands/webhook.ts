import { type Command } from 'commander';
import { listDeliveries, replayDelivery, requestTestDelivery, type DeliveryView } from '../../services/selling/webhooks/delivery-view';
import {
  addSellerWebhook,
  listSellerWebhooks,
  removeSellerWebhook,
  SELLER_EVENTS,
  type SellerEvent,
  type SellerWebhook,
} from '../../services/selling/webhooks/seller-webhooks';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { CommandError } from '../command-error';
import { table } from './output';
import { parseId, parseLimit, parseList } from '../parse-arguments';
import { showMoment } from './views';

const HELP = `
Events: ${SELLER_EVENTS.join(', ')}.
docs/seller-webhooks.md describes their contents. The secret is shown once, when the webhook is added.`;

function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && text.length <= 2_000;
  if (isUsable) return url.href;
  throw new CommandError(
    'invalid_argument',
    'the URL must be http or https, without a user name or password, such as https://billing.example.com/hooks',
  );
}

function parseEvents(text: string | undefined): readonly SellerEvent[] | null {
  if (text === undefined) return null;
  const names = parseList(text);
  const known = SELLER_EVENTS.filter((event) => names.includes(event));
  if (known.length > 0 && known.length === names.length) return known;
  throw new CommandError('invalid_argument', `--events must be some of ${SELLER_EVENTS.join(',')}`);
}

function show(webhooks: readonly SellerWebhook[]): string {
  if (webhooks.length === 0) return 'no webhooks';
  const rows = webhooks.map(({ id, url, events, createdAt, lastOutcome }) => [
    id,
    url,
    events?.join(',') ?? 'all',
    showMoment(createdAt),
    lastOutcome,
  ]);
  return table(['webhook', 'URL', 'events', 'added', 'last delivery'], rows);
}

function showDeliveries(deliveries: readonly DeliveryView[]): string {
  if (deliveries.length === 0) return 'no deliveries';
  const rows = deliveries.map(({ id, event, state, attempts, lastStatus, lastError, createdAt }) => [
    id,
    event,
    state,
    attempts,
    lastStatus ?? lastError,
    showMoment(createdAt),
  ]);
  return table(['delivery', 'event', 'state', 'attempts', 'answer', 'since'], rows);
}

function addDeliveries(webhook: Command, context: CommandContext): void {
  finishCommand(webhook.command('deliveries').description('show deliveries of the last 30 days, newest first'))
    .argument('<id>', 'id of the webhook')
    .option('--limit <n>', 'how many to show', '100')
    .action(async (id: string, flags: { limit: string }) => {
      const query = { id: parseId(id), customerId: null, limit: parseLimit(flags.limit, '--limit') };
      const { deliveries } = await withDatabase(context, (db) => listDeliveries(db, query));
      context.output.result(deliveries, () => showDeliveries(deliveries));
    });
  finishCommand(webhook.command('replay').description('send a delivery again, with the same event id'))
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .action(async (id: string, deliveryId: string) => {
      const ref = { id: parseId(id), customerId: null, deliveryId: parseId(deliveryId) };
      const delivery = await withDatabase(context, (db) => replayDelivery(db, ref));
      context.output.result(delivery, () => showDeliveries([delivery]));
    });
  finishCommand(webhook.command('test').description('send a test event'))
    .argument('<id>', 'id of the webhook')
    .action(async (id: string) => {
      const delivery = await withDatabase(context, (db) => requestTestDelivery(db, { id: parseId(id), customerId: null }));
      context.output.result(delivery, () => showDeliveries([delivery]));
    });
}

/** `tollgate webhook …`: endpoints at which the seller's systems receive events about customers, subscriptions and statements. */
export function addWebhookCommands(program: Command, context: CommandContext): void {
  const webhook = program.command('webhook').description("the seller's webhooks: events for billing systems").addHelpText('after', HELP);
  finishCommand(webhook.command('add').description('send events to a URL; prints its signing secret, this once'))
    .argument('<url>', 'http or https')
    .option('--events <list>', 'names separated by commas (default: all of them)')
    .addHelpText('after', HELP)
    .action(async (url: string, flags: { events?: string }) => {
      const options = { url: parseUrl(url), events: parseEvents(flags.events), actor: ACTOR };
      const added = await withDatabase(context, (db) => addSellerWebhook(db, options));
      context.output.result(added, () => `${added.secret}\nshown this once; its id is ${added.id}`);
    });
  finishCommand(webhook.command('list').description('show the URLs that events are sent to')).action(async () => {
    const webhooks = await withDatabase(context, listSellerWebhooks);
    context.output.result(webhooks, () => show(webhooks));
  });
  finishCommand(webhook.command('remove').description('stop sending events to a URL, including waiting ones'))
    .argument('<id>', 'id of the webhook')
    .action(async (text: string) => {
      const id = parseId(text);
      await withDatabase(context, (db) => removeSellerWebhook(db, { id, actor: ACTOR }));
      context.output.result({ id, removed: true }, () => `webhook ${id} is removed`);
    });
  addDeliveries(webhook, context);
}
