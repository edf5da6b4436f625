import { type Command } from 'commander';
import { type Pool } from 'pg';
import { type SuspensionWish } from '../../services/selling/suspensions/suspend';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';

const HELP = `
The customer sees the reason. Only restore lifts a suspension; pausing, resuming, activating and deactivating have no effect on it. Every gateway
node knows within a second.`;

export interface SuspensionCommands<View> {
  readonly argument: { readonly name: string; readonly description: string };
  /** The subject of the texts, for example `a key`. */
  readonly what: string;
  readonly parse: (text: string) => string;
  readonly suspend: (db: Pool, subject: string, wish: SuspensionWish) => Promise<View>;
  readonly show: (view: View) => string;
}

/** `suspend` and `restore` of a customer, a key or a subscription. */
export function addSuspensionCommands<View>(group: Command, context: CommandContext, commands: SuspensionCommands<View>): void {
  const { argument, what, parse, suspend, show } = commands;
  const run = async (text: string, reason: string | undefined): Promise<void> => {
    const subject = parse(text);
    const view = await withDatabase(context, (db) => suspend(db, subject, { reason, actor: ACTOR }));
    context.output.result(view, () => show(view));
  };
  finishCommand(group.command('suspend').description(`refuse the requests of ${what} until it is restored`))
    .argument(`<${argument.name}>`, argument.description)
    .option('--reason <text>', 'for the customer to read', '')
    .addHelpText('after', HELP)
    .action((text: string, flags: { reason: string }) => run(text, flags.reason.trim()));
  finishCommand(group.command('restore').description(`lift the suspension of ${what}`))
    .argument(`<${argument.name}>`, argument.description)
    .action((text: string) => run(text, undefined));
}
