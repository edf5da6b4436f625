import { type Command } from 'commander';
import { type OwnLimitsWish } from '../../services/selling/subscriptions/subscription-terms';
import { CommandError } from '../command-error';
import { parseLimit, parseRate } from '../parse-arguments';

/** Limits of a single subscription. */
export interface OwnLimitFlags {
  readonly daily?: string;
  readonly monthly?: string;
  readonly rate?: string;
  readonly burst?: string;
}

/** @param whose `of the subscriptions`; empty if the command has a single subscription */
export function addOwnLimits(command: Command, whose = ''): Command {
  return command
    .option('--daily <n>', `requests a day${whose}, instead of the plan’s`)
    .option('--monthly <n>', `requests a month${whose}, instead of the plan’s`)
    .option('--rate <rate>', `rate at which requests${whose} may come, such as 10/s or 600/min, instead of the plan’s rate`)
    .option('--burst <n>', 'with --rate: how many requests may come at once (default: the number in the rate)');
}

export function readOwnLimits({ daily, monthly, rate, burst }: OwnLimitFlags): OwnLimitsWish {
  if (burst !== undefined && rate === undefined) throw new CommandError('invalid_argument', '--burst needs --rate');
  return {
    ...(daily !== undefined && { daily: parseLimit(daily, '--daily') }),
    ...(monthly !== undefined && { monthly: parseLimit(monthly, '--monthly') }),
    ...(rate !== undefined && { rate: parseRate(rate, burst) }),
  };
}
