import { type Command } from 'commander';
import { expireKey } from '../../services/selling/keys/set-key-state';
import { rotateKey } from '../../services/selling/keys/rotate-key';
import { ACTOR, type CommandContext, finishCommand, withDatabase } from './command-context';
import { parseDuration, parseId, parseInstant } from '../parse-arguments';
import { quotaTimeZone } from './quota-time-zone';
import { showMoment, summariseSubscription } from './views';

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
export function addKeyLifetime(key: Command, context: CommandContext): void {
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
