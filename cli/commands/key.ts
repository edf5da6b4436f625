import { type Command } from 'commander';
import { type CredentialState } from '../../plugins/core/ports';
import { viewKey } from '../../services/selling/keys/key-view';
import { listKeys, showKey } from '../../services/selling/keys/show-keys';
import { replaceKeyRules } from '../../services/selling/keys/whitelist-rules';
import { setKeyState } from '../../services/selling/keys/set-key-state';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { suspendKey } from '../../services/selling/suspensions/suspend';
import { addKeyIssuing } from './key-create';
import { addKeyLifetime } from './key-lifetime';
import { parseId, parseRuleList } from '../parse-arguments';
import { addSuspensionCommands } from './suspensions';
import { showKeyDetails, showKeys, showSubscriptions } from './views';

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
