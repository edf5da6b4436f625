import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { type CommandContext } from './commands/command-context';
import { CommandError } from './command-error';
import { addCatalogueCommands } from './commands/catalogue';
import { addBillingCommands } from './commands/billing';
import { addCheckCommand } from './commands/check';
import { addDoctorCommand } from './commands/doctor';
import { addDataCommands } from './commands/data';
import { addCustomerCommands } from './commands/customer';
import { addExplainCommand } from './commands/explain';
import { addGatewayCommand } from './commands/gateway';
import { addInitCommand } from './commands/init';
import { addKeyCommands } from './commands/key';
import { createOutput, type Streams } from './commands/output';
import { addModelCommands } from './commands/model';
import { addOperatorCommands } from './commands/operator';
import { addProductCommands } from './commands/product';
import { addRestoreCheckCommand } from './commands/restore-check';
import { addSigningKeyCommands } from './commands/signing-key';
import { addSizesCommand } from './commands/sizes';
import { addStatementCommand } from './commands/statement';
import { addSubscriptionCommands } from './commands/subscription';
import { addUsageCommand } from './commands/usage';
import { addWebhookCommands } from './commands/webhook';
import { foldersOfCommand, type FoundFolders } from './supervisor/find-folders';

export interface RunOptions extends Pick<CommandContext, 'root' | 'isSameProcess'>, Partial<Omit<FoundFolders, 'root'>> {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly streams?: Streams;
}

const FIRST_STEPS = `
First steps:
  npx tollgate init shop             writes a folder for what you sell
  npx tollgate start --config shop   runs it, in one terminal
  npx tollgate product new weather --url http://127.0.0.1:9000 && npx tollgate catalogue apply      in another
  npx tollgate key create --customer you@example.com --products weather

Commands work on the instance that runs from this folder, or on DATABASE_URL. npx tollgate start --help lists its options. Each command has --help and --json.`;

function readVersion(root: string): string {
  const file = join(root, 'package.json');
  if (!existsSync(file)) return 'unknown';
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

function createProgram(context: CommandContext, { stdout }: Streams): Command {
  const program = new Command('tollgate')
    .description('Keys, subscriptions and limits in front of your APIs.')
    .version(readVersion(context.root), '--version', 'print the version')
    .addHelpText('after', FIRST_STEPS);
  addCustomerCommands(program, context);
  addKeyCommands(program, context);
  addSubscriptionCommands(program, context);
  addSigningKeyCommands(program, context);
  addUsageCommand(program, context);
  addStatementCommand(program, context);
  addBillingCommands(program, context);
  addWebhookCommands(program, context);
  addInitCommand(program, context);
  addCatalogueCommands(program, context);
  addProductCommands(program, context);
  addGatewayCommand(program, context);
  addOperatorCommands(program, context);
  addExplainCommand(program, context);
  addDataCommands(program, context);
  addModelCommands(program, context);
  addCheckCommand(program, context);
  addDoctorCommand(program, context);
  addSizesCommand(program, context);
  addRestoreCheckCommand(program, context);
  // Errors become one line, and commander never ends the process.
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => void stdout.write(text), writeErr: () => undefined })
      .helpCommand(false);
  }
  return program;
}

/**
 * Runs one command.
 * @returns the exit code: 0, or what the command says of its result, or 1 after one readable line (with `--json` one JSON text) on stderr
 */
export async function runTollgate(options: RunOptions): Promise<number> {
  const { root, home = root, here = root, isSameProcess, argv, env = process.env, streams = process } = options;
  const json = argv.includes('--json');
  const words = argv.filter((word) => word !== '--json');
  const output = createOutput(json, streams);
  let exitCode = 0;
  const exitWith = (code: number): void => void (exitCode = code);
  const folders = foldersOfCommand({ root, home, here }, env, isSameProcess);
  const program = createProgram({ root, env: folders, isSameProcess, output, exitWith }, streams);
  try {
    await program.parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) output.error(error);
    else if (error.exitCode === 0) return 0;
    else output.error(new CommandError('invalid_argument', usageMistake(error, helpFor(program, words))));
    return 1;
  }
}

/** The help of the command that was understood from `words`. */
function helpFor(program: Command, words: readonly string[]): string {
  const understood: string[] = [];
  let command: Command | undefined = program;
  for (const word of words) {
    command = command.commands.find((each) => each.name() === word);
    if (!command) break;
    understood.push(word);
  }
  return ['npx tollgate', ...understood, '--help'].join(' ');
}

/** Commander's own sentence without its prefix, and where to read more. A group without a command says so. */
function usageMistake(error: CommanderError, help: string): string {
  const mistake = error.code === 'commander.help' ? 'a command is missing' : error.message.replace(/^error: /, '').replace(/\.$/, '');
  return `${mistake}; see ${help}`;
}
