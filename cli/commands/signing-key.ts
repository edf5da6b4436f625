import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type ContextAlgorithm, parseKeySet } from '../../plugins/core/proof/context-keys';
import { createContextKey, type KeySet } from '../../plugins/core/proof/create-context-key';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from './command-error';

const EXAMPLES = `
Examples:
  npx tollgate signing-key create >> .env                          a first key
  npx tollgate signing-key create --jwks jwks.json --json          the next one; the set goes on naming the keys of jwks.json

TOLLGATE_CONTEXT_PRIVATE_KEY is a secret, for plugin servers alone. TOLLGATE_CONTEXT_JWKS is for services and upstreams: public,
unless the key is HS256. Nothing is stored; docs/operate/secrets.md says how to rotate without a refused request.`;

interface CreateFlags {
  readonly alg: ContextAlgorithm;
  readonly jwks?: string;
}

/** @throws CommandError naming what is wrong with the file */
function readFormer(path: string | undefined): KeySet['keys'] {
  if (path === undefined) return [];
  try {
    const text = readFileSync(path, 'utf8');
    parseKeySet(text);
    return (JSON.parse(text) as KeySet).keys;
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error;
    const what = isMissing || !(error instanceof Error) ? 'cannot be read' : error.message;
    throw new CommandError('invalid_argument', `${path} ${what}`, { cause: error });
  }
}

/** `tollgate signing-key create`: makes the keys of proofs; reads no database. */
export function addSigningKeyCommands(program: Command, { output }: CommandContext): void {
  const group = program.command('signing-key').description('the key that plugin servers sign proofs with');
  finishCommand(group.command('create').description('print a new key and the key set that verifies it, as lines of an .env file'))
    .addOption(new Option('--alg <name>', 'how to sign').choices(['EdDSA', 'HS256']).default('EdDSA'))
    .option('--jwks <file>', 'a key set whose keys go on being believed')
    .addHelpText('after', EXAMPLES)
    .action(({ alg, jwks: file }: CreateFlags) => {
      const former = readFormer(file);
      const { kid, privateKey, keySet } = createContextKey(alg);
      const jwks = { keys: [...keySet.keys, ...former] };
      output.result({ kid, alg, privateKey: JSON.parse(privateKey) as object, jwks }, () =>
        [`TOLLGATE_CONTEXT_PRIVATE_KEY='${privateKey}'`, `TOLLGATE_CONTEXT_JWKS='${JSON.stringify(jwks)}'`].join('\n'),
      );
    });
}
