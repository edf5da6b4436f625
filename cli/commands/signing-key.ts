import { readFileSync } from 'node:fs';
import { type Command } from 'commander';
import { parseKeySet, parseSharedKeys, type SharedKey } from '../../plugins/core/proof/context-keys';
import { createContextKey, type KeySet, keySetOf } from '../../plugins/core/proof/create-context-key';
import { deriveProductKey, derivePrivateKey, formatSecrets, rotateSecrets, type RotationStep } from '../../plugins/core/proof/product-keys';
import { PRODUCT_ID } from '../../plugins/core/catalogue/catalogue';
import { readKeySet } from '../../services/kit/service/proof-settings';
import { dataFolder } from '../supervisor/data-folder';
import { keySetFile, secretsFile } from '../supervisor/proof-keys';
import { type CommandContext, finishCommand } from './command-context';
import { CommandError } from '../command-error';

const EXAMPLES = `
Examples:
  npx tollgate signing-key rotate                                  the first secret, or the next step where TOLLGATE_CONTEXT_SECRETS is set
  npx tollgate signing-key keys weather tides                      the keys with which a service of these products verifies
  npx tollgate signing-key keys                                    the public key set, for products with proof: eddsa
  npx tollgate signing-key create --jwks jwks.json                 your own Ed25519 key; the new set keeps the keys of jwks.json

Give TOLLGATE_CONTEXT_SECRETS and TOLLGATE_CONTEXT_PRIVATE_KEY to plugin servers only. The command stores nothing. docs/operate/secrets.md says
how to rotate without a refused request.`;

const STEPS: Readonly<Record<RotationStep, string>> = {
  first: 'for plugin servers; signing-key keys prints the keys with which services verify',
  believe:
    'step 1 of 3: give services the keys that signing-key keys prints with this value, and upstreams the public set; change no plugin server',
  sign: 'step 2 of 3: give this value to the plugin servers, one node after the other',
  end: 'step 3 of 3, 60 s after step 2: give this value to the plugin servers, and services the keys that it gives',
};

/** @throws CommandError that names the file's mistake */
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

/** @throws CommandError with the message of what `read` throws */
function refusing<Value>(read: () => Value, setting = 'TOLLGATE_CONTEXT_SECRETS'): Value {
  try {
    return read();
  } catch (error) {
    const what = error instanceof Error ? error.message : 'cannot be read';
    throw new CommandError('invalid_argument', `${setting} ${what}`, { cause: error });
  }
}

function readFileOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The secrets in the environment, otherwise those of `npm start` in this folder. @throws CommandError */
function readSecrets({ env, root }: CommandContext): readonly SharedKey[] {
  const text = env['TOLLGATE_CONTEXT_SECRETS'] || readFileOf(secretsFile(dataFolder(root, env)));
  if (text === undefined)
    throw new CommandError('invalid_argument', 'set TOLLGATE_CONTEXT_SECRETS to the value that the plugin servers have');
  return refusing(() => parseSharedKeys(text));
}

function publicKeys(context: CommandContext): KeySet {
  const { env, root } = context;
  const { TOLLGATE_CONTEXT_SECRETS: secrets, TOLLGATE_CONTEXT_JWKS: given } = env;
  if (!secrets && given) return keySetOf(...refusing(() => readKeySet(given), 'TOLLGATE_CONTEXT_JWKS'));
  const kept = secrets ? undefined : readFileOf(keySetFile(dataFolder(root, env)));
  return kept === undefined ? keySetOf(...readSecrets(context).map(derivePrivateKey)) : (JSON.parse(kept) as KeySet);
}

/** The keys of these products, for all generations. @throws CommandError */
function productKeys(context: CommandContext, products: readonly string[]): KeySet {
  const odd = products.find((product) => !PRODUCT_ID.test(product));
  if (odd !== undefined) throw new CommandError('invalid_argument', `"${odd}" is not a product id`);
  const secrets = readSecrets(context);
  return keySetOf(...products.flatMap((product) => secrets.map((secret) => deriveProductKey(secret, product))));
}

function addCreate(group: Command, { output }: CommandContext): void {
  finishCommand(group.command('create').description('print a new Ed25519 key and its public key set, as lines of an .env file'))
    .option('--jwks <file>', 'a key set whose keys stay valid')
    .action(({ jwks: file }: { readonly jwks?: string }) => {
      const former = readFormer(file);
      const { kid, privateKey, keySet } = createContextKey();
      const jwks = { keys: [...keySet.keys, ...former] };
      output.result({ kid, privateKey: JSON.parse(privateKey) as object, jwks }, () =>
        [`TOLLGATE_CONTEXT_PRIVATE_KEY='${privateKey}'`, `TOLLGATE_CONTEXT_JWKS='${JSON.stringify(jwks)}'`].join('\n'),
      );
    });
}

/** `tollgate signing-key`: creates the keys of proofs. Reads no database. */
export function addSigningKeyCommands(program: Command, context: CommandContext): void {
  const { env, output } = context;
  const group = program.command('signing-key').description('the keys that sign and verify proofs').addHelpText('after', EXAMPLES);
  addCreate(group, context);
  finishCommand(group.command('rotate').description('print the next value of TOLLGATE_CONTEXT_SECRETS, as a line of an .env file')).action(
    () => {
      const former = env['TOLLGATE_CONTEXT_SECRETS'];
      const { step, secrets } = refusing(() => rotateSecrets(former ? parseSharedKeys(former) : []));
      const text = formatSecrets(secrets);
      output.result({ step, secrets: text }, () => `# ${STEPS[step]}\nTOLLGATE_CONTEXT_SECRETS='${text}'`);
    },
  );
  finishCommand(
    group.command('keys [products...]').description('print the keys that verify proofs: those of products, or the public key set'),
  ).action((products: readonly string[]) => {
    const keys = products.length > 0 ? productKeys(context, products) : publicKeys(context);
    const name = products.length > 0 ? 'TOLLGATE_CONTEXT_KEYS' : 'TOLLGATE_CONTEXT_JWKS';
    output.result(keys, () => `${name}='${JSON.stringify(keys)}'`);
  });
}
