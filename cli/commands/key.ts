import { type Command } from 'commander';
import { type CredentialState } from '../../plugins/core/ports';
import { listKeys, showKey, viewKey } from '../../services/selling/keys/key-view';
import { replaceKeyRules } from '../../services/selling/keys/whitelist-rules';
import { setKeyState, expireKey } from '../../services/selling/keys/set-key-state';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { suspendKey } from '../../services/selling/suspensions/suspend';
import { addKeyIssuing } from './key-create';
import { parseId, parseRuleList, parseDuration, parseInstant } from '../parse-arguments';
import { rotateKey } from '../../services/selling/keys/rotate-key';
import { addSuspensionCommands } from './suspensions';
import { showKeyDetails, showKeys, showSubscriptions, showMoment, summariseSubscription } from './views';
import { quotaTimeZone } from './quota-time-zone';

const LIST_EXAMPLE = `
Example:
  npx tollgate key list --customer you@example.com`;

const RULES_EXAMPLE = `
Examples:
  npx tollgate key rules ID                                      show them
  npx tollgate key rules ID --allow 10.0.0.0/8,*.example.com     replace them
  npx tollgate key rules ID --allow ""                           admit everyone

A rule is an address (203.0.113.7), a network (10.0.0.0/8, 2001:db8::/32), a host (app.example.com) or all hosts below one
(*.example.com). Hosts are compared with Origin, or with Referer if there is no Origin. A caller must match at least one rule; without rules everyone may call.`;

function addReading(key: Command, context: CommandContext): void {
  finishCommand(key.command('list').description('show the keys of a customer'))
    .requiredOption('--customer <email>', 'email address or id of the customer')
    .addHelpText('after', LIST_EXAMPLE)
    .action(async (flags: { customer: string }) => {
      const keys = await withDatabase(context, (db) => listKeys(db, { customer: flags.customer }));
      context.output.result(keys, () => showKeys(keys));
    });

  finishCommand(key.command('show').description('show everything about a key except its secret').argument('<id>', 'id of the key')).action(
    async (text: string) => {
      const id = parseId(text);
      const details = await withDatabase(context, (db) => showKey(db, { id }));
      context.output.result(details, () => [showKeyDetails(details), '', showSubscriptions(details.subscriptions)].join('\n'));
    },
  );
}

function addRules(key: Command, context: CommandContext): void {
  finishCommand(key.command('rules').description('show or replace the whitelist rules of a key').argument('<id>', 'id of the key'))
    .option('--allow <rules>', 'the new rules, separated by commas; empty admits everyone')
    .addHelpText('after', RULES_EXAMPLE)
    .action(async (text: string, flags: { allow?: string }) => {
      const id = parseId(text);
      const { allow } = flags;
      const rules = allow ? parseRuleList(allow) : [];
      const view = await withDatabase(context, (db) =>
        allow === undefined ? viewKey(db, { id }) : replaceKeyRules(db, { id, rules, actor: ACTOR }),
      );
      context.output.result({ id, rules: view.rules }, () =>
        view.rules.length === 0 ? 'no rules: every caller is admitted' : view.rules.join('\n'),
      );
    });
}

const ROTATE_EXAMPLE = `
Examples:
  npx tollgate key rotate ID                  the old key ends at once
  npx tollgate key rotate ID --overlap 24h    both work for a day

The new key has the products, rules, mode and expiry of the old one; usage of today and this month stays counted.`;

const EXPIRE_EXAMPLE = `
Examples:
  npx tollgate key expire ID                            ends now
  npx tollgate key expire ID --at 2027-03-31T18:30:00Z  ends then
  npx tollgate key expire ID --at 2027-03-31            ends when that day is over, in the quota time zone`;

/** `key rotate` and `key expire`. */
function addKeyLifetime(key: Command, context: CommandContext): void {
  finishCommand(key.command('rotate').description('replace a key with a new one').argument('<id>', 'id of the old key'))
    .option('--overlap <duration>', 'how long the old key keeps working, for example 24h (default: not at all)')
    .addHelpText('after', ROTATE_EXAMPLE)
    .action(async (text: string, flags: { overlap?: string }) => {
      const id = parseId(text);
      const { overlap } = flags;
      const overlapMs = overlap === undefined ? 0 : parseDuration(overlap, '--overlap');
      const rotated = await withDatabase(context, (db) => rotateKey(db, { id, overlapMs, actor: ACTOR }));
      const subscriptions = rotated.subscriptions.map(summariseSubscription);
      const { rotatedFrom, oldKeyEndsAt } = rotated;
      context.output.result({ key: rotated.key, id: rotated.id, subscriptions, rotatedFrom, oldKeyEndsAt }, () => {
        const end = oldKeyEndsAt ? `works until ${showMoment(oldKeyEndsAt)}` : 'has ended';
        return `${rotated.key}\nshown this once; its id is ${rotated.id}; the old key ${end}`;
      });
    });

  finishCommand(key.command('expire').description('set when a key ends').argument('<id>', 'id of the key'))
    .option('--at <date>', 'ISO 8601 (default: now)')
    .addHelpText('after', EXPIRE_EXAMPLE)
    .action(async (text: string, flags: { at?: string }) => {
      const id = parseId(text);
      const at = flags.at === undefined ? undefined : parseInstant(flags.at, '--at', quotaTimeZone(context));
      const view = await withDatabase(context, (db) => expireKey(db, { id, actor: ACTOR, ...(at && { at }) }));
      const verb = view.expired ? 'ended' : 'ends';
      context.output.result(view, () => `key ${view.maskedKey} (${view.id}) ${verb} ${showMoment(view.expiresAt) ?? 'never'}`);
    });
}

const STATES: readonly { name: string; state: CredentialState; description: string }[] = [
  { name: 'deactivate', state: 'inactive', description: 'switch a key off; activate switches it on again' },
  { name: 'activate', state: 'active', description: 'switch a key on again' },
  { name: 'revoke', state: 'revoked', description: 'end a key for good' },
];

function addStates(key: Command, context: CommandContext): void {
  for (const { name, state, description } of STATES) {
    finishCommand(key.command(name).description(description).argument('<id>', 'id of the key')).action(async (text: string) => {
      const id = parseId(text);
      const view = await withDatabase(context, (db) => setKeyState(db, { id, state, actor: ACTOR }));
      context.output.result(view, () => `key ${view.maskedKey} (${view.id}) is ${view.state}`);
    });
  }
}

/** `tollgate key …` */
export function addKeyCommands(program: Command, context: CommandContext): void {
  const key = program.command('key').description('API keys: make, show, switch off, rotate, revoke');
  addKeyIssuing(key, context);
  addReading(key, context);
  addKeyLifetime(key, context);
  addStates(key, context);
  addSuspensionCommands(key, context, {
    argument: { name: 'id', description: 'id of the key' },
    what: 'a key',
    parse: parseId,
    suspend: (db, id, wish) => suspendKey(db, { id, ...wish }),
    show: showKeyDetails,
  });
  addRules(key, context);
}
